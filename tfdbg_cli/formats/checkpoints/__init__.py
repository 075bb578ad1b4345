"""Checkpoints of TensorFlow (its tensor bundles): an index, and data files with the elements of the variables."""
