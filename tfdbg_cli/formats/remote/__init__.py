"""Recordings in other file systems, by address: names and sizes are listed, content comes when somebody looks."""
