"""The values of a bundle's inputs: the elements alone, one file an input."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np

from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.tensors import Shape, nbytes_of
from tfdbg_cli.model.values import Array, NoValue

_TEXTS = "string"
_MOST_TEXT = (1 << 31) - 1  # bytes; protobuf's own limit


def value_bytes(array: Array, dtype: str) -> memoryview:
    """The content of the file of `array`, uncopied where it lies in memory as it is written.

    Raises:
        ValueError: TensorFlow has no element type `dtype`, or the array does not fit it.

    """
    named = element_type_named(dtype)
    if array.dtype.names and named is not None and named.numpy is not None:
        array = array.view(named.numpy)  # TensorFlow's NumPy types of quantized integers
    element = tensor_proto.storable(array, dtype)
    if element.name == _TEXTS:
        head, _ = tensor_proto.encode_parts(array, dtype)
        return memoryview(head)
    flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).reshape(-1)
    return flat.view(np.uint8).data if flat.size else memoryview(b"")


def digest(content: bytes | memoryview) -> str:
    """The SHA-256 of `content`, in hex."""
    return hashlib.sha256(content).hexdigest()


def value_digest(array: Array, dtype: str) -> str:
    """The digest of a value's elements: equal for values that are the same bit for bit.

    Raises:
        ValueError: as `value_bytes`.

    """
    return digest(value_bytes(array, dtype))


def file_size(array: Array, dtype: str) -> int:
    """About how many bytes the file of `array` takes."""
    return nbytes_of(array) + (8 * array.size if dtype == _TEXTS else 0)


def read_value(path: Path, dtype: str, shape: Shape, expected: str) -> Array:
    """The value in the file at `path`, whose digest is `expected`. No more memory is taken than the file has bytes.

    Raises:
        ValueError: the file is not what it should be; the message is a sentence.
        OSError: it cannot be read.

    """
    element = element_type_named(dtype)
    if element is None or element.numpy is None:
        raise ValueError(f"There is no element type {dtype!r} that an array can hold.")
    if min(shape, default=0) < 0:
        raise ValueError(f"The shape {list(shape)} has a negative size.")
    with opened(path, _MOST_TEXT if element.itemsize is None else None) as (file, size):
        wanted = None if element.itemsize is None else math.prod(shape) * element.itemsize
        if wanted is not None and size != wanted:
            raise ValueError(f"It has {size} bytes, and {list(shape)} of {dtype} takes {wanted}.")
        content = np.fromfile(file, np.uint8)
    if digest(content.data if content.size else b"") != expected:
        raise ValueError("Its content is not what was written.")
    if element.name == _TEXTS:
        return _texts(content.tobytes(), shape)
    value = tensor_proto.from_content(content, element, shape) if content.size else np.empty(shape, element.numpy)
    if isinstance(value, NoValue):
        raise ValueError(value.text)
    return value


def _texts(content: bytes, shape: Shape) -> Array:
    try:
        value = tensor_proto.decode(schema.TensorProto.FromString(content))
    except schema.DecodeError:
        raise ValueError("It holds no texts.") from None
    if isinstance(value, NoValue):
        raise ValueError(value.text)
    if value.dtype != np.dtype(object) or value.shape != shape:
        raise ValueError(f"It holds {value.dtype} of shape {list(value.shape)}, not texts of shape {list(shape)}.")
    return value
