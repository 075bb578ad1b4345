"""The language in which the rows of a list are chosen: `dense nan>0 or size>1MB`."""
