"""Recordings: many runs in one folder, tensor bytes in a few safetensors files, found by an index in SQLite."""
