"""The key under which the slice of a partitioned variable lies in the index of a checkpoint.

The encoding keeps the order of what it encodes (tensorflow/core/lib/strings/ordered_code.h): 0, the name, the number
of axes, and of each axis where the slice begins and how long it is; -1 means all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ESCAPED = re.compile(rb"[\x00\xff]")
_WHOLE = -1


def slice_key(name: bytes, extents: Sequence[tuple[int, int | None]]) -> bytes:
    """The key of a slice of the variable `name`: of each axis its beginning and its length (None: all of it)."""
    parts = [_number(0), _text(name), _number(len(extents))]
    for start, length in extents:
        parts += [_signed(start), _signed(_WHOLE if length is None else length)]
    return b"".join(parts)


def _number(value: int) -> bytes:
    content = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(content)]) + content


def _text(value: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: match[0] + (b"\xff" if match[0] == b"\0" else b"\0"), value) + b"\0\x01"


def _signed(value: int) -> bytes:
    """In the leading byte as many ones as there are bytes (zeros where the value is negative), then the value."""
    magnitude = ~value if value < 0 else value
    length = magnitude.bit_length() // 7 + 1
    content = bytearray((value & (1 << 8 * length) - 1).to_bytes(length, "big"))
    header = ((1 << length) - 1) << (16 - length)
    content[0] ^= header >> 8
    if length > 1:
        content[1] ^= header & 0xFF
    return bytes(content)
