"""What a user asks for, as they typed it: read, checked, and found in the run."""
