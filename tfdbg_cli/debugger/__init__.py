"""What decides for each run: leave it alone, watch it, capture it, stop; and what that takes."""
