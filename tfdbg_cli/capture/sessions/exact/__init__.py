"""Whether a run of a session made again, or with checks, is the program's own."""
