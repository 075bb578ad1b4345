"""Ways through the graph of a run: around a node, between two nodes, and from what was given to a tensor."""
