"""Bundles: one run to take elsewhere, with what it takes to make it again."""
