"""What a tensor can hold when somebody looks: a NumPy array, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


class Lack(StrEnum):
    """Why a tensor has no array."""

    UNINITIALIZED = "uninitialized"  # a variable read before it was written
    OPAQUE = "opaque"  # resource and variant: handles, not numbers
    DAMAGED = "damaged"  # the file is truncated or foreign
    GONE = "gone"  # the bytes are not kept any more
    UNKNOWN_DTYPE = "unknown dtype"  # written by a TensorFlow newer than this reader


# There was a value, and nobody can read it; a handle never has one.
LOST = frozenset({Lack.DAMAGED, Lack.GONE, Lack.UNKNOWN_DTYPE})


@dataclass(frozen=True, slots=True)
class NoValue:
    """A tensor without an array: why, in one word and in a sentence for the screen."""

    lack: Lack
    text: str


Value: TypeAlias = "Array | NoValue"


def known_array(value: Value) -> Array | None:
    """The array that `value` is, or None where there is none, for whom the reason does not matter."""
    return None if isinstance(value, NoValue) else value


def as_array(feed: Any) -> Array:
    """What a user fed (array, list, number, text) as an array; byte strings stay as they are, as objects.

    Raises:
        ValueError: rows of unequal length.

    """
    if isinstance(feed, np.ndarray):
        return feed
    try:
        array = np.asarray(feed)
    except UnicodeDecodeError:  # texts beside bytes that are none
        array = np.asarray(feed, object)
    # NumPy's fixed width loses zero bytes at the end of a string; TensorFlow feeds them.
    return np.asarray(feed, object) if array.dtype.kind == "S" else array
