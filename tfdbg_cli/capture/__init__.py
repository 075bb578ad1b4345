"""Everything that touches TensorFlow: intercepting runs and taking their tensors."""
