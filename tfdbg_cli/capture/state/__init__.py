"""Snapshots: what a run or a call read from outside, held, so that it can be made again or undone."""
