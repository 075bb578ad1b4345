"""Recordings of the workers of one job, which share a folder."""
