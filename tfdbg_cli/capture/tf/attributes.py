"""Writes attributes of nodes into the messages of a graph."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttrValue
from tfdbg_cli.model.dtypes import ElementType

_Message = compat.v1.AttrValue


def set_attribute(attribute: AttrValue, value: object) -> None:
    """Give `attribute` a value: one of Python, of TensorFlow, of our dtypes, an array, or another AttrValue."""
    if isinstance(value, _Message):
        attribute.CopyFrom(value)
    elif isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    elif isinstance(value, bytes):
        attribute.s = value
    elif isinstance(value, ElementType):
        attribute.type = value.number
    elif isinstance(value, tf.DType):
        attribute.type = value.as_datatype_enum
    elif isinstance(value, tf.TensorShape):
        attribute.shape.CopyFrom(value.as_proto())
    else:
        attribute.tensor.CopyFrom(tf.make_tensor_proto(value))
