"""What every format stands on: what a format is, and files that are opened and written with care."""
