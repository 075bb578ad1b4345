"""What a watch adds to the graph of a session: checks, shadow ops, rewritten calls."""
