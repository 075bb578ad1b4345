"""The graph of a function with all that it calls, and the function whose gradient it computes."""
