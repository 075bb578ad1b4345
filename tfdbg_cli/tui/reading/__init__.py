"""A document being read: its rows painted, where the user is in it, what is searched for."""
