"""Which rows of an op's inputs made some rows of its output, axis by axis."""
