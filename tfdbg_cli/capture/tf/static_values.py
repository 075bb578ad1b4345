"""What a graph tells of tensors before it runs: their shapes, and the arrays of its constants."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import tensorflow as tf

from tfdbg_cli.model.values import Array

_LARGEST_READ = 1 << 22  # elements of a constant that are looked at
_SMALL = 256  # bytes of a constant of which equal ones are read once


def dimensions(shape: tf.TensorShape) -> tuple[int | None, ...] | None:
    """The lengths of the dimensions of a TensorShape, as far as they are known; None for an unknown rank."""
    return None if shape.rank is None else tuple(shape.as_list())


def array_in(proto: Any) -> Array | None:
    """The array in a TensorProto; None when it is too large to be read, or of a type that NumPy does not hold."""
    shape = proto.tensor_shape
    if shape.unknown_rank or math.prod(dim.size for dim in shape.dim) > _LARGEST_READ:
        return None
    return _equal_ones(proto.SerializeToString()) if proto.ByteSize() <= _SMALL else _read(proto)


@lru_cache(maxsize=1024)
def _equal_ones(data: bytes) -> Array | None:
    """The array in a serialized TensorProto; of the many small constants of a training step most are equal."""
    holder = tf.compat.v1.AttrValue()
    holder.tensor.ParseFromString(data)
    array = _read(holder.tensor)
    if array is not None:
        array.flags.writeable = False
    return array


def _read(proto: Any) -> Array | None:
    try:
        array: Array = tf.make_ndarray(proto)
        return array
    except TypeError:
        return None
