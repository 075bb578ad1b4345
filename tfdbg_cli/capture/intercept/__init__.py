"""Which calls are runs: methods of TensorFlow replaced, so that functions come to the debugger."""
