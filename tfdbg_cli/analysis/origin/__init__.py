"""The first tensor that is not finite though all its inputs are, and what it spoiled."""
