"""Lists of tensors, nodes and whatever was found: their columns, each cell made when it is looked at."""
