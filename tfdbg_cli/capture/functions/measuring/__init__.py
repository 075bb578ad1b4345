"""Statistics that a function computes while it runs: of which tensors, and what its answer means."""
