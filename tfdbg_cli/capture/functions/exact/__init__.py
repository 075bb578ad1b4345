"""Whether a rewritten function gives the numbers of the plain one: proven by its compiled graph, and tried."""
