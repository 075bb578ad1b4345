"""Measurements: `make bench`. Ratios of medians, taken in one process; quote ratios, not seconds."""
