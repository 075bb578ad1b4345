"""What a graph tells of tensors before it runs: their shapes, and the arrays of its constants."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from tfdbg_cli.model.values import Array

_LARGEST_READ = 1 << 22  # elements of a constant that are looked at


def dimensions(shape: tf.TensorShape) -> tuple[int | None, ...] | None:
    """The lengths of the dimensions of a TensorShape, as far as they are known; None for an unknown rank."""
    return None if shape.rank is None else tuple(shape.as_list())


def array_in(proto: Any) -> Array | None:
    """The array in a TensorProto; None when it is too large to be read, or of a type that NumPy does not hold."""
    shape = proto.tensor_shape
    if shape.unknown_rank or math.prod(dim.size for dim in shape.dim) > _LARGEST_READ:
        return None
    try:
        array: Array = tf.make_ndarray(proto)
        return array
    except TypeError:
        return None
