"""Dump directories of TensorFlow's debugger, with what tfdbg adds to them."""
