"""The program's Python around its eager ops: stacks, places, loops and their turns, what becomes of a value."""
