"""What an older TensorFlow or NumPy does otherwise than the newest ones; `make test-matrix` tests with older ones."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

TENSORFLOW = tuple(map(int, tf.__version__.split(".")[:2]))

TIMES_ZERO_IS_ZERO = TENSORFLOW < (2, 18)
"""TensorFlow's optimizer takes x·0 for 0, even where x is not finite: seen in 2.16, not in 2.18."""

SHOWS_TYPES = int(np.__version__.split(".")[0]) >= 2
"""A scalar of NumPy shows its type: `np.float32(1.0)`, before `1.0`."""
