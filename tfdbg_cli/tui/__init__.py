"""The full-screen front end. urwid is imported here and nowhere else."""
