"""What if: parts of a run computed again with other values, and runs made op by op, away from the program's state."""
