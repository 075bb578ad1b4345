"""Attaching over a socket: the program listens, a client has the prompt, which is the line UI."""
