"""Reading and writing runs on disk, without TensorFlow."""
