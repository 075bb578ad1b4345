"""Why a tf.function was traced again, and what helps."""
