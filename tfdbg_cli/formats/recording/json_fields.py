"""JSON of a recording: written, and values out of it, each of the kind that it has to be. Nothing is made to fit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_MOST = 1 << 63  # beyond what any count, size or time of a recording is


def json_bytes(fields: Mapping[str, Any]) -> bytes:
    """`fields` as JSON in plain ASCII, so that a name that is no valid UTF-8 comes back as it was."""
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def text(value: Any) -> str:
    """`value`, a text.

    Raises:
        TypeError: it is something else.

    """
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def text_or_none(value: Any) -> str | None:
    """`value`, a text or null.

    Raises:
        TypeError: it is something else.

    """
    return None if value is None else text(value)


def texts(value: Any) -> tuple[str, ...]:
    """The items of `value`, a list of texts.

    Raises:
        TypeError: it is something else.

    """
    return tuple(map(text, items(value)))


def items(value: Any) -> list[Any]:
    """`value`, a list.

    Raises:
        TypeError: it is something else.

    """
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def flag(value: Any) -> bool:
    """`value`, true or false.

    Raises:
        TypeError: it is something else.

    """
    if not isinstance(value, bool):
        raise TypeError("not true or false")
    return value


def whole(value: Any, least: int = 0) -> int:
    """`value`, a whole number of at least `least` that fits in 64 bits.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is too small or too large.

    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    if not least <= value < _MOST:
        raise ValueError(f"The number {value} is out of range.")
    return value


def number(value: Any) -> float:
    """`value`, a finite number.

    Raises:
        TypeError: it is no number.
        ValueError: it is infinite, NaN, or beyond 64 bits.

    """
    found = finite(value)
    if abs(found) >= _MOST:
        raise ValueError("A number is out of range.")
    return found


def finite(value: Any) -> float:
    """`value`, a finite number of any size.

    Raises:
        TypeError: it is no number.
        ValueError: it is infinite or NaN.

    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError("not a number")
    if not math.isfinite(value):
        raise ValueError("A number is not finite.")
    return float(value)


def shape(value: Any) -> tuple[int, ...]:
    """`value`, a list of sizes.

    Raises:
        TypeError: it is something else.
        ValueError: a size is negative or too large.

    """
    return tuple(whole(size) for size in items(value))


def partial_shape(value: Any) -> tuple[int | None, ...] | None:
    """`value`, a list of sizes, some of which may be null, or null for an unknown rank.

    Raises:
        TypeError: it is something else.
        ValueError: a size is negative or too large.

    """
    return None if value is None else tuple(None if size is None else whole(size) for size in items(value))
