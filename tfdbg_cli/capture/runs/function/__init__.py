"""One call of a graph function: left alone, captured, watched, or profiled."""
