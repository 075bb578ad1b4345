"""Whether a debugged run gave the numbers of an undebugged one, how that is known, and where they part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.values import Array, NoValue, Value

_MOST_NAMED = 3


class Way(StrEnum):
    """What the program's own call was made as."""

    UNCHANGED = "unchanged"  # as the program made it; the values shown come from a run made again on copies
    PROVEN = "proven"  # with checks beside it; TensorFlow's optimizer made the same ops of it as without them
    IN_PLACE = "in place"  # with more outputs, which can change what TensorFlow's optimizer makes of it


@dataclass(frozen=True, slots=True)
class Parting:
    """An output of a run, or a variable after it, that was not the same in two runs from the same state.

    `elements` counts those that differ, `max_abs` is their largest difference (NaN left out), `max_ulp` the largest
    distance in steps between neighbouring numbers of the dtype; None where the two are no numbers of one dtype and
    shape.
    """

    name: str
    elements: int
    max_abs: float | None = None
    max_ulp: int | None = None

    def __str__(self) -> str:
        return self.name if self.max_ulp is None else f"{self.name} (up to {self.max_ulp:,} ULP)"


@dataclass(frozen=True, slots=True)
class Exactness:
    """How near a run is to the one that the program would have made undebugged.

    `compared` counts outputs and variables that were compared bit by bit with a run from the same state, `differs`
    are those that were not the same. `doubt` is a sentence that says why last digits may differ; empty if they may
    not.
    """

    way: Way
    compared: int = 0
    differs: tuple[Parting, ...] = ()
    doubt: str = ""

    @property
    def exact(self) -> bool:
        """Whether no number differs, as far as is known, and nothing speaks for it that one does."""
        return not self.differs and not self.doubt

    @property
    def sentence(self) -> str:
        """It all in a sentence or two, for the screen."""
        return " ".join(filter(None, (self._about_program, self._about_values, self.doubt)))

    @property
    def _about_program(self) -> str:
        match self.way:
            case Way.UNCHANGED:
                return "Exact: the program's own call ran unchanged; the values come from the same run made again."
            case Way.PROVEN if self.differs:
                return "Not exact: this run was watched, and gave other last digits than unwatched."
            case Way.PROVEN if not self.doubt:
                return "Exact: TensorFlow's optimizer made the same ops of the watched run as of the plain one."
        return "" if self.doubt else "Not exact: the run was made with its values as more outputs."

    @property
    def _about_values(self) -> str:
        if self.differs:
            named = ", ".join(map(str, self.differs[:_MOST_NAMED])) + " …" * (len(self.differs) > _MOST_NAMED)
            return f"{len(self.differs)} of {self.compared} outputs and variables differ: {named}."
        if not self.compared:
            return ""
        what = "output or variable is" if self.compared == 1 else "outputs and variables are"
        return f"{self.compared} {what} the same to the last bit."


def parted(names: Iterable[str], first: Iterable[Value], again: Iterable[Value]) -> tuple[Parting, ...]:
    """Those of the values called `names` that are not the same to the last bit; values that are not known are."""
    pairs = zip(names, first, again, strict=True)
    return tuple(_parting(name, one, two) for name, one, two in pairs if not same_bits(one, two))


def same_bits(one: Value, two: Value) -> bool:
    """Whether two values are the same to the last bit, NaN included; values that are not known are."""
    if isinstance(one, NoValue) or isinstance(two, NoValue):
        return True
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.hasobject:
        return bool(np.array_equal(one, two))
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(two).tobytes()


def _parting(name: str, one: Value, two: Value) -> Parting:
    assert not isinstance(one, NoValue)
    assert not isinstance(two, NoValue)
    if one.dtype != two.dtype or one.shape != two.shape or one.dtype.hasobject:
        return Parting(name, max(one.size, two.size))
    one, two = np.ascontiguousarray(one).ravel(), np.ascontiguousarray(two).ravel()
    elements = int((_bits(one) != _bits(two)).reshape(one.size, -1).any(axis=1).sum())
    if not is_inexact(one.dtype) or one.dtype.kind == "c":
        return Parting(name, elements)
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.float64) - two.astype(np.float64))
    numbers = np.isfinite(apart)
    return Parting(name, elements, float(apart[numbers].max(initial=0.0)), _ulps(one, two))


def _bits(values: Array) -> Array:
    """The bytes of each element."""
    return values.view(np.uint8).reshape(values.size, -1)


def _ulps(one: Array, two: Array) -> int | None:
    """The largest distance of two elements that are no NaN; None for a dtype of more than 64 bits."""
    width = one.dtype.itemsize
    if width > 8:
        return None
    numbers = ~(np.isnan(one) | np.isnan(two))
    places = [_place(values[numbers], width) for values in (one, two)]
    largest = np.where(places[0] > places[1], places[0] - places[1], places[1] - places[0]).max(initial=0)
    return int(largest)


def _place(values: Array, width: int) -> Array:
    """Where each float stands among all floats of its dtype, counted from the lowest: neighbours are 1 apart."""
    raw = values.view(np.dtype(f"u{width}")).astype(np.uint64)
    sign = np.uint64(1 << (8 * width - 1))
    return np.where(raw & sign, sign - (raw & (sign - np.uint64(1))), raw + sign)
