"""What TensorFlow's graph optimizer and runtime make of a function, and our ops put onto that."""
