"""The log of eager ops: what each read and gave, as long as memory allows, and the run that it makes."""
