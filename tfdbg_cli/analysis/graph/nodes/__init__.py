"""What a node of a run's graph is: its part in a training step, who reads it, what called it, which line made it."""
