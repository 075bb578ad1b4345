"""Where values go through branches, loops, calls, stacks and variables, of which no edge tells."""
