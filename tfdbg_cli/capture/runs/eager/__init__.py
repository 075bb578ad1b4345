"""Eager code: recording op by op what a Python callable runs."""
