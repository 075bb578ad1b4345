"""Questions to a run: filters, neighbours, origin. NumPy only."""
