"""A document being read: its rows painted, where the person is in it, what is searched for."""
