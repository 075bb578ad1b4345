"""A debug server for programs that TensorFlow's debugger streams out of: what it receives, and its prompt."""
