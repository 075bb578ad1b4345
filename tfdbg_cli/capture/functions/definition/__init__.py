"""FunctionDefs read and edited: what a function consists of and calls, by the names that its runs show."""
