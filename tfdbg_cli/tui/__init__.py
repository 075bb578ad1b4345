"""The full-screen front end on urwid."""
