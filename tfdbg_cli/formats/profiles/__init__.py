"""Profiles that TensorFlow wrote: the times of ops, by device."""
