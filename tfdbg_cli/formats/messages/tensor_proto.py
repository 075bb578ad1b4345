"""TensorProto to array and back, for every element type of TensorFlow.

The layout is that of tensorflow/core/framework/tensor.proto: either `tensor_content`, the elements as they lie in
memory, or one of the typed fields, where the last value stands for all that are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_header import MOST_DIMENSIONS, too_large
from tfdbg_cli.model.dtypes import (
    HANDLES,
    ElementType,
    element_type,
    element_type_named,
    lacks_numpy_type,
    name_of,
)
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

# A splat names few values for many elements; beyond this many bytes it is taken for damage. Of several values the
# last one is filled in, which takes the memory.
SPLAT_LIMIT = 1 << 28
FILLED_LIMIT = 1 << 26
_MOST_KINDS = 256  # of elements that are known to fit a type

UNINITIALIZED = NoValue(Lack.UNINITIALIZED, "The tensor was not initialized when it was read.")

_BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}
_INT_VAL = {
    "int32", "int16", "int8", "uint16", "uint8", "int4", "uint4", "int2", "uint2",
    "qint8", "quint8", "qint16", "quint16", "qint32",
}  # fmt: skip
_VALUES_FIELD = {
    "float32": "float_val", "float64": "double_val", "complex64": "scomplex_val", "complex128": "dcomplex_val",
    "int64": "int64_val", "uint32": "uint32_val", "uint64": "uint64_val", "bool": "bool_val",
    "float16": "half_val", "bfloat16": "half_val",
} | dict.fromkeys(_INT_VAL, "int_val")  # fmt: skip


def damaged(text: str) -> NoValue:
    """The value of a tensor whose bytes make no sense; `text` says why, in a sentence."""
    return NoValue(Lack.DAMAGED, text)


def unreadable(element: ElementType) -> NoValue | None:
    """Why no array can hold `element`, or None when one can."""
    if element.name in HANDLES:
        return NoValue(Lack.OPAQUE, f"A {element.name} is a handle and holds no numbers.")
    if lacks_numpy_type(element):
        return NoValue(
            Lack.UNKNOWN_DTYPE,
            f"The installed ml_dtypes {ml_dtypes.__version__} has no {element.name}; a newer one shows this tensor.",
        )
    if element.numpy is None:
        return NoValue(Lack.UNKNOWN_DTYPE, f"This tfdbg does not know the element type {element.name}.")
    return None


def shape_of(proto: Any) -> Shape | None:
    """The shape in a TensorShapeProto; None when the rank is unknown."""
    return None if proto.unknown_rank else tuple(dim.size for dim in proto.dim)


def decode(proto: Any) -> Value:
    """The array in a TensorProto, or why there is none. Never raises and never takes more memory than is there."""
    element = element_type(proto.dtype)
    lack = unreadable(element)
    if lack is not None:
        return lack
    shape = shape_of(proto.tensor_shape)
    if shape is None:
        return UNINITIALIZED
    if min(shape, default=0) < 0:
        return damaged(f"The shape {list(shape)} has a negative size.")
    if len(shape) > MOST_DIMENSIONS or too_large(shape):
        return damaged(f"A shape of {len(shape)} dimensions that no tensor can have.")
    try:
        if proto.tensor_content:
            return from_content(np.frombuffer(proto.tensor_content, np.uint8), element, shape)
        return _from_values(_typed_values(proto, element), shape)
    except (ValueError, OverflowError) as error:
        return damaged(f"The values do not fit the shape {list(shape)}: {str(error).rstrip('.')}.")


def from_content(content: Array, element: ElementType, shape: Shape) -> Value:
    """Elements of `element` that lie in `content` (1-D uint8, writable if the result is to be) as in memory.

    Types of less than a byte take a byte each, as in TensorFlow's memory, or are packed, lowest bits first.

    Raises:
        ValueError: NumPy cannot make that shape (too many dimensions).

    """
    assert element.numpy is not None
    if element.numpy.hasobject:
        return damaged("The strings lie in an encoding that only the writing process can read.")
    count = math.prod(shape)
    bits = _BITS.get(element.name, 8 * element.numpy.itemsize)
    if content.size == count * element.numpy.itemsize:
        array: Array = (content != 0) if element.numpy == np.bool_ else content.view(element.numpy)
        return array.reshape(shape)
    if bits < 8 and content.size == -(-count * bits // 8):
        array = _unpack(content, bits)[:count].view(element.numpy)
        return array.reshape(shape)
    return damaged(
        f"The shape {list(shape)} of {element.name} takes {count * element.numpy.itemsize} bytes,"
        f" the file holds {content.size}."
    )


def _unpack(content: Array, bits: int) -> Array:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts: Array = ((content[:, None] >> shifts) & ((1 << bits) - 1)).astype(np.uint8).reshape(-1)
    return parts


def _typed_values(proto: Any, element: ElementType) -> Array:
    assert element.numpy is not None
    name = element.name
    if name == "string":
        return _objects(proto.string_val)
    if name.startswith(("float8", "float4")):
        return np.frombuffer(proto.float8_val, np.uint8).view(element.numpy)
    field = getattr(proto, _VALUES_FIELD[name])
    if name in {"float16", "bfloat16"}:
        return np.fromiter((bits & 0xFFFF for bits in field), np.uint16, len(field)).view(element.numpy)
    if name in {"complex64", "complex128"}:
        part = np.dtype(np.float32 if name == "complex64" else np.float64)
        if len(field) % 2:
            raise ValueError("a real part without an imaginary part")
        return np.fromiter(field, part, len(field)).view(element.numpy)
    if field and name in _INT_VAL:
        return np.fromiter(field, np.int32, len(field)).astype(element.numpy)
    return np.fromiter(field, element.numpy, len(field))


def _objects(items: Sequence[Any]) -> Array:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _from_values(values: Array, shape: Shape) -> Value:
    count = math.prod(shape)
    if values.size == count:
        return values.reshape(shape)
    if values.size == 0:
        # TensorFlow dumps an uninitialized tensor as a type and a shape without values.
        return UNINITIALIZED
    if values.size > count:
        return damaged(f"The shape {list(shape)} has {count} elements, the file holds {values.size}.")
    if count * values.itemsize > (SPLAT_LIMIT if values.size == 1 else FILLED_LIMIT):
        return damaged(f"The shape {list(shape)} claims {count} elements, the file holds {values.size}.")
    if values.size == 1:
        return np.broadcast_to(values[0], shape)  # nothing is made: every element is the one
    return np.concatenate([values, np.repeat(values[-1:], count - values.size)]).reshape(shape)


def storable(array: Array, dtype: str = "") -> ElementType:
    """The element type under which `array` is written; `dtype` may name it (`qint8` for an int8 array).

    Raises:
        ValueError: TensorFlow has no such type, or an object array holds something else than texts.

    """
    element = _storable_as(array.dtype, dtype)
    if element.name == "string" and not all(isinstance(item, bytes | str) for item in array.flat):
        raise ValueError("an array of objects that are not texts")
    return element


@lru_cache(_MOST_KINDS)
def _storable_as(own: np.dtype[Any], dtype: str) -> ElementType:
    """The element type called `dtype`, or else after `own`, under which an array of `own` is written.

    Raises:
        ValueError: TensorFlow has no such type, or such elements do not fit it.

    """
    element = element_type_named(dtype or name_of(own))
    if element is None or element.numpy is None:
        raise ValueError(f"TensorFlow has no element type {dtype or own}")
    if element.name != "string" and own.newbyteorder("=") != element.numpy:
        raise ValueError(f"an array of {own} cannot be written as {element.name}")
    return element


def encode_head(element: ElementType, shape: Shape | None) -> bytes:
    """The serialized TensorProto without values: what follows may be a values field, or nothing (uninitialized)."""
    proto = schema.TensorProto(dtype=element.number)
    if shape is None:
        proto.tensor_shape.unknown_rank = True
    else:
        proto.tensor_shape.SetInParent()
        for size in shape:
            proto.tensor_shape.dim.add(size=size)
    head: bytes = proto.SerializeToString()
    return head


def encode_parts(array: Array, dtype: str = "") -> tuple[bytes, memoryview]:
    """A serialized TensorProto in two parts to be written one after the other: the head, and the elements uncopied.

    Raises:
        ValueError: as `storable`.

    """
    element = storable(array, dtype)
    head = encode_head(element, array.shape)
    if element.name == "string":
        texts = [_as_bytes(item) for item in array.flat]
        return head + schema.TensorProto(string_val=texts).SerializeToString(), memoryview(b"")
    flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).reshape(-1)
    content = flat.view(np.uint8).data if flat.size else memoryview(b"")
    return (head + b"\x22" + varint(len(content)) if flat.size else head), content


def _as_bytes(item: bytes | str) -> bytes:
    return item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape")


def varint(number: int) -> bytes:
    """`number` (not negative) in protobuf's variable-length encoding."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)
