"""Things chosen out of very many and sorted: by facts, by figures, by conditions on values, by text."""
