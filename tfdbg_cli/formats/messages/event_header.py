"""The type and shape of a dumped tensor from the first bytes of its file, without its values.

A dump file is one serialized Event (no record framing). The walk follows the wire format of protobuf
(https://protobuf.dev/programming-guides/encoding) through Event.summary.value[0].tensor and stops at the values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfdbg_cli.model.tensors import Shape

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SUMMARY, _VALUE, _TENSOR = 5 << 3 | _BYTES, 1 << 3 | _BYTES, 8 << 3 | _BYTES  # keys of one byte each
_DTYPE, _SHAPE, _VERSION, CONTENT = 1, 2, 3, 4
_MOST_ELEMENTS = 1 << 63
MOST_DIMENSIONS = 254  # TensorShape::MaxDimensions in TensorFlow


class NotATensorError(ValueError):
    """The bytes are no Event that holds a tensor."""


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """What stands before the values. `shape` is None when the rank is unknown.

    `field` is the field number of the values in TensorProto (4: tensor_content) or 0 when there are none;
    they lie at `offset` and take `length` bytes (of the first value only, for a repeated field). `end` is where
    the TensorProto ends.
    """

    dtype: int
    shape: Shape | None
    field: int
    offset: int
    length: int
    end: int


def read_header(data: bytes) -> TensorHeader:
    """The header in `data`, the beginning of a dump file.

    Raises:
        NotATensorError: the bytes are something else.
        IndexError: `data` ends before the values begin.

    """
    start, end = 0, 1 << 62
    for key in (_SUMMARY, _VALUE, _TENSOR):
        start, end = _enter(data, start, end, key)
    dtype, shape = 0, ()  # type: int, Shape | None
    while start < end:
        key, start = _varint(data, start)
        field, wire = key >> 3, key & 7
        if field == _DTYPE and wire == _VARINT:
            dtype, start = _varint(data, start)
        elif field == _SHAPE and wire == _BYTES:
            length, start = _varint(data, start)
            shape = _shape(data, start, start + length)
            start += length
        elif field == _VERSION and wire == _VARINT:
            _, start = _varint(data, start)
        else:
            length, offset = _varint(data, start) if wire == _BYTES else (end - start, start)
            return TensorHeader(dtype, shape, field, offset, length, end)
    if start != end:
        raise NotATensorError("a field is longer than the tensor it lies in")
    return TensorHeader(dtype, shape, 0, end, 0, end)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7
        if shift > 63:
            raise NotATensorError("a number of more than 64 bits")


def _skip(data: bytes, at: int) -> int:
    """The place behind the field that begins at `at`."""
    wire = data[at] & 7
    at = at + 1 if data[at] < 0x80 else _varint(data, at)[1]
    if wire == _BYTES:
        length = data[at]
        if length < 0x80:
            return at + 1 + length
        length, at = _varint(data, at)
        return at + length
    if wire == _FIXED64:
        return at + 8
    if wire == _VARINT:
        return _varint(data, at)[1]
    if wire == _FIXED32:
        return at + 4
    raise NotATensorError(f"wire type {wire}")


def _enter(data: bytes, start: int, end: int, wanted: int) -> tuple[int, int]:
    while start < end:
        if data[start] == wanted:
            length, start = _varint(data, start + 1)
            if start + length > end:
                raise NotATensorError("a message is longer than the one it lies in")
            return start, start + length
        start = _skip(data, start)
    raise NotATensorError("there is no tensor in it")


def _shape(data: bytes, start: int, end: int) -> Shape | None:
    sizes: list[int] = []
    unknown = False
    while start < end:
        key = data[start]
        if key == 2 << 3 | _BYTES:
            length, start = _varint(data, start + 1)
            sizes.append(_dimension(data, start, start + length))
            start += length
        elif key == 3 << 3:
            flag, start = _varint(data, start + 1)
            unknown = bool(flag)
        else:
            start = _skip(data, start)
    if len(sizes) > MOST_DIMENSIONS:
        raise NotATensorError(f"a shape of {len(sizes)} dimensions")
    if not unknown and too_large(tuple(sizes)):
        raise NotATensorError("a shape of more elements than a tensor can have")
    return None if unknown else tuple(sizes)


def too_large(shape: Shape) -> bool:
    """Whether a tensor of `shape` has more elements than TensorFlow can count, an empty axis aside."""
    return math.prod(size for size in shape if size > 0) >= _MOST_ELEMENTS


def _dimension(data: bytes, start: int, end: int) -> int:
    size = 0
    while start < end:
        if data[start] == 1 << 3:
            size, start = _varint(data, start + 1)
        else:
            start = _skip(data, start)
    if size >= 1 << 63:
        raise NotATensorError("a negative size in the shape")
    return size
