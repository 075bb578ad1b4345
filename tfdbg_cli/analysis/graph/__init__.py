"""The graph of a run followed: who reads whom, what a value was made of, what part a node plays."""
