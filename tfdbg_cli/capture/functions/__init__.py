"""Graph functions rewritten, so that a call of one gives all its values, or the answers that a watch asks for."""
