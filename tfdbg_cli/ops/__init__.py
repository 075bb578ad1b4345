"""What tfdbg knows of op types: what they hide, hold, do besides computing, and how they flow. No TensorFlow."""
