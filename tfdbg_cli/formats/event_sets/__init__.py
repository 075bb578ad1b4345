"""Event sets of Debugger V2 (`tf.debugging.experimental.enable_dump_debug_info`), read without TensorFlow."""
