"""The variables of a run: which there are, what the run does with them, what their names tell."""
