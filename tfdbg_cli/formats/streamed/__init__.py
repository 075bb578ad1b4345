"""Runs as TensorFlow's runtime sends them to a debug server, event by event."""
