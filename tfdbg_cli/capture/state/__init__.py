"""Calls of functions held: all that it takes to make one again, or to undo it."""
