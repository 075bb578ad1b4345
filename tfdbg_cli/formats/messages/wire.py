"""The fields of a serialized message, one by one: where each lies, and where it stops making sense.

Walks protobuf's wire format (https://protobuf.dev/programming-guides/encoding) without knowing the message. What is
parsed as a whole fails as a whole; this finds the parts of a damaged or truncated file that can be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_MOST_BITS = 70


class WireField(NamedTuple):
    """A field of a message: its number and wire type, and where its value lies; `at` is where its key stands.

    A field that goes on behind the end of the message is `cut`, and ends there.
    """

    number: int
    wire: int
    at: int
    start: int
    end: int
    cut: bool = False


class DamagedMessageError(ValueError):
    """The bytes are no message from `offset` on; the text is the reason."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


def parts(data: bytes, start: int = 0, end: int | None = None) -> Iterator[WireField]:
    """The fields of the message that lies in `data` from `start` to `end`; one that is cut off is the last.

    Raises:
        DamagedMessageError: the walk came to bytes that are no field.

    """
    stop = len(data) if end is None else end
    at = start
    while at < stop:
        key, value = _varint(data, at, stop)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise DamagedMessageError("there is no field 0 in any message", at)
        if wire == VARINT:
            behind = _varint(data, value, stop)[1]
        elif wire == BYTES:
            length, value = _varint(data, value, stop)
            behind = value + length
        elif wire in _SIZES:
            behind = value + _SIZES[wire]
        else:
            raise DamagedMessageError(f"there is no wire type {wire}", at)
        yield WireField(number, wire, at, value, min(behind, stop), behind > stop)
        at = behind


def first_part(data: bytes, number: int, start: int = 0, end: int | None = None) -> WireField | None:
    """The first field `number` of a message; None where it has none, or is damaged before it."""
    try:
        return next((part for part in parts(data, start, end) if part.number == number), None)
    except DamagedMessageError:
        return None


def _varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    number = shift = 0
    place = at
    while place < stop:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return number, place
        shift += 7
        if shift >= _MOST_BITS:
            raise DamagedMessageError("a number has more than 64 bits", at)
    raise DamagedMessageError("it ends in the middle of a field", at)
