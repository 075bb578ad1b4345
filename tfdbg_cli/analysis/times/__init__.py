"""The times of a profiled run, node by node and summed."""
