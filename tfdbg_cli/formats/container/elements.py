"""The elements of an array as the bytes of a recording, and back. Nothing is trusted on the way back."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tfdbg_cli.formats.container.layout import Encoding
from tfdbg_cli.formats.messages.tensor_proto import damaged, from_content, storable, unreadable
from tfdbg_cli.model.dtypes import ElementType, element_type_named
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, Value

# The element types that every version of safetensors knows; the others stand there under one of the same width.
_TAGS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "qint8": "I8", "qint16": "I16", "qint32": "I32",
    "quint8": "U8", "quint16": "U16",
}  # fmt: skip
_PARTS = {"complex64": "F32", "complex128": "F64"}  # a real and an imaginary part, as a last axis
_BYTES = "U8"
_END = np.dtype("<u8")
_MOST_KINDS = 256  # of elements that are known
_MOST_RATIO = 1040  # bytes that zlib can make of one


@dataclass(frozen=True, slots=True)
class ElementBytes:
    """The bytes of a tensor, and what a safetensors header says of them."""

    content: memoryview
    encoding: Encoding
    dtype: str  # TensorFlow's name
    tag: str
    shape: Shape


def elements_of(array: Array, dtype: str, *, compressed: bool = False) -> ElementBytes:
    """The elements of `array`, uncopied where they lie in memory as they are written.

    Raises:
        ValueError: TensorFlow has no element type `dtype`, or the array does not fit it.

    """
    named = element_type_named(dtype)
    if array.dtype.names and named is not None and named.numpy is not None:
        array = array.view(named.numpy)  # TensorFlow's NumPy types of quantized integers
    element = storable(array, dtype)
    if element.name == "string":
        found = ElementBytes(_texts_content(array), Encoding.TEXTS, element.name, _BYTES, ())
    else:
        shape = array.shape
        content = _plain_content(array) if array.size else memoryview(b"")
        tag = _PARTS.get(element.name) or _TAGS.get(element.name, _BYTES)
        found = ElementBytes(
            content, Encoding.PLAIN, element.name, tag, (*shape, 2) if element.name in _PARTS else shape
        )
    if not compressed:
        return found if found.encoding is Encoding.PLAIN else _as_bytes(found, found.content, found.encoding)
    packed = memoryview(zlib.compress(found.content, 1))
    if len(packed) >= len(found.content):
        return found if found.encoding is Encoding.PLAIN else _as_bytes(found, found.content, found.encoding)
    return _as_bytes(found, packed, Encoding(found.encoding + 2))


def _plain_content(array: Array) -> memoryview:
    """The bytes of `array`, which has some, in C order and little endian on every machine."""
    order = _order(array.dtype)
    if order != array.dtype:
        array = array.astype(order, copy=False)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array.reshape(-1).view(np.uint8).data


@lru_cache(_MOST_KINDS)
def _order(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """`dtype` with the byte order in which it is written; ml_dtypes have none."""
    return dtype.newbyteorder("<") if dtype.kind in "iufcb" else dtype


def _as_bytes(found: ElementBytes, content: memoryview, encoding: Encoding) -> ElementBytes:
    return ElementBytes(content, encoding, found.dtype, _BYTES, (len(content),))


def _texts_content(array: Array) -> memoryview:
    items = [item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape") for item in array.flat]
    ends = np.cumsum([len(item) for item in items], dtype=_END).astype(_END) if items else np.empty(0, _END)
    return memoryview(ends.tobytes() + b"".join(items))


def plain_size(dtype: str, shape: Shape) -> int | None:
    """Bytes that the elements take as they lie in memory; None where that depends on what they are."""
    element = element_type_named(dtype)
    size = element.itemsize if element is not None else None
    return None if size is None else math.prod(shape) * size


def value_of(content: Array, encoding: Encoding, dtype: str, shape: Shape) -> Value:
    """The value whose bytes are `content` (1-D uint8). Damage is a NoValue."""
    element = element_type_named(dtype)
    if element is None:
        return damaged(f"There is no element type {dtype!r}.")
    lack = unreadable(element)
    if lack is not None:
        return lack
    if encoding.compressed:
        unpacked = _unpacked(content, plain_size(dtype, shape))
        if unpacked is None:
            return damaged("The compressed elements are damaged.")
        content, encoding = unpacked, Encoding(encoding - 2)
    if (element.name == "string") is not (encoding is Encoding.TEXTS):
        return damaged(f"The elements are encoded in a way that does not fit {dtype}.")
    try:
        if encoding is Encoding.TEXTS:
            return _texts(content, shape)
        return from_content(content, element, shape) if content.size else _empty(element, shape)
    except ValueError as error:
        return damaged(f"The elements do not fit the shape {list(shape)}: {error}.")


def _empty(element: ElementType, shape: Shape) -> Value:
    assert element.numpy is not None
    if math.prod(shape):
        return damaged(f"The shape {list(shape)} has elements, and none are recorded.")
    return np.empty(shape, element.numpy)


def _unpacked(content: Array, size: int | None) -> Array | None:
    """What `content` is when it is no longer compressed; None when that is not `size` bytes (None: any)."""
    most = content.size * _MOST_RATIO
    if size is not None and size > most:
        return None
    try:
        stream = zlib.decompressobj()
        plain = stream.decompress(content.data, most if size is None else max(size, 1))
        plain += stream.decompress(stream.unconsumed_tail, 1) if size == len(plain) else b""
    except zlib.error:
        return None
    return np.frombuffer(plain, np.uint8) if stream.eof and size in (None, len(plain)) else None


def _texts(content: Array, shape: Shape) -> Value:
    count = math.prod(shape)
    if count * _END.itemsize > content.size:
        return damaged(f"The shape {list(shape)} has {count} texts, and fewer are recorded.")
    ends = content[: count * _END.itemsize].view(_END)
    body = content[count * _END.itemsize :].tobytes()
    found = np.empty(count, object)
    start = 0
    for at, end in enumerate(ends.tolist()):
        if not start <= end <= len(body):
            return damaged("The texts do not lie one behind the other.")
        found[at], start = body[start:end], end
    return found.reshape(shape)
