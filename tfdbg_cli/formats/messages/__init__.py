"""TensorFlow's protobuf messages, read and written without TensorFlow."""
