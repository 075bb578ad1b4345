"""What a value was made of: the values before it, the elements of those, and what the makers compute."""
