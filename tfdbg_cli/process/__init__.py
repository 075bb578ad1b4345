"""The process that tfdbg shares with the program: its frames, its signal handlers, its standard streams."""
