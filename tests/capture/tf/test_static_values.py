"""What is read of the constants of graphs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.tf.static_values import array_in


def test_equal_small_constants_are_read_once_and_stay_as_they_are() -> None:
    first, second = (array_in(tf.make_tensor_proto([1.0, np.nan, -0.0])) for _ in range(2))
    assert first is second
    assert first is not None
    np.testing.assert_array_equal(first, np.array([1.0, np.nan, -0.0], np.float32))
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 2.0


def test_constants_of_one_text_and_other_dtypes_or_shapes_are_told_apart() -> None:
    made = [tf.make_tensor_proto(0, dtype) for dtype in (tf.int32, tf.int64, tf.float32)]
    made += [tf.make_tensor_proto(np.zeros(shape, np.float32)) for shape in ((1,), (1, 1))]
    found = [array_in(proto) for proto in made]
    assert [(one.dtype.name, one.shape) for one in found if one is not None] == [
        ("int32", ()), ("int64", ()), ("float32", ()), ("float32", (1,)), ("float32", (1, 1)),
    ]  # fmt: skip


def test_a_large_constant_is_read_anew() -> None:
    proto = tf.make_tensor_proto(np.arange(1000.0))
    assert array_in(proto) is not array_in(proto)
