"""Whether a debugged run gave the numbers of an undebugged one, how that is known, and where they part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.values import Array, NoValue, Value

_MOST_NAMED = 3
_MOST_ULP = 1_000_000  # farther apart two numbers are no roundings of one, and are told themselves


class Way(StrEnum):
    """What the program's own call was made as."""

    UNCHANGED = "unchanged"  # as the program made it; the values shown come from a run made again on copies
    PROVEN = "proven"  # with checks beside it; TensorFlow's optimizer made the same ops of it as without them
    TRIED = "tried"  # with checks beside it; what it gave was compared with a plain run from the same state
    GIVEN = "given"  # with checks beside it; the program was given what the same run gave left alone, on copies
    IN_PLACE = "in place"  # with more outputs, which can change what TensorFlow's optimizer makes of it


@dataclass(frozen=True, slots=True)
class Parting:
    """An output of a run, or a variable after it, that was not the same in two runs from the same state.

    `elements` counts those that differ, `max_abs` is their largest difference (NaN left out), `max_ulp` the largest
    distance in steps between neighbouring numbers of the dtype; None where the two are no numbers of one dtype and
    shape. `told` says in words how they differ where no distance does.
    """

    name: str
    elements: int
    max_abs: float | None = None
    max_ulp: int | None = None
    told: str = field(default="", compare=False)

    def __str__(self) -> str:
        if self.told or not self.max_ulp:
            return f"{self.name} ({self.told})" if self.told else self.name
        return f"{self.name} (up to {self.max_ulp:,} ULP)"


@dataclass(frozen=True, slots=True)
class Exactness:
    """How near a run is to the one that the program would have made undebugged.

    `strays` are outputs and variables that the program got otherwise than undebugged, in this run or in one under the
    same watch. `differs` are those in which the run made again for the screen is not the program's, of the `compared`
    ones. `doubt` says why the program's last digits may be others; empty if they may not. `note` is for the screen.
    """

    way: Way
    compared: int = 0
    differs: tuple[Parting, ...] = ()
    strays: tuple[Parting, ...] = ()
    doubt: str = ""
    note: str = ""

    @property
    def program_exact(self) -> bool:
        """Whether the program got its own numbers, as far as is known, and nothing speaks against it."""
        return not self.strays and not self.doubt

    @property
    def exact(self) -> bool:
        """Whether the values shown are the program's, and these its own."""
        return self.program_exact and not self.differs

    @property
    def sentence(self) -> str:
        """It all in a few sentences, for the screen."""
        return " ".join(filter(None, (self._about_program, self.note, self._about_values)))

    @property
    def _about_program(self) -> str:
        if self.strays:
            return f"Not exact: under this watch the program gets other last digits in {named_partings(self.strays)}."
        if self.doubt:
            return self.doubt
        match self.way:
            case Way.UNCHANGED:
                return "The program's own call ran unchanged; the values are of the same run made again on copies."
            case Way.PROVEN:
                return "TensorFlow made the same ops of the run, with what was added to it, as of the plain one."
            case Way.TRIED:
                return "Runs from the same state, watched and plain, gave the same."
            case Way.GIVEN:
                return "The program was given what the same run, made again on copies and left alone, gave."
            case Way.IN_PLACE:
                return "The values were taken while the program's own run happened."

    @property
    def _about_values(self) -> str:
        if self.differs:
            of = f"{len(self.differs)} of {self.compared} outputs and variables"
            return f"Made again, {of} are not the program's to the last bit: {named_partings(self.differs)}."
        if not self.compared:
            return ""
        what = "output or variable is" if self.compared == 1 else "outputs and variables are"
        return f"{self.compared} {what} the same to the last bit."


def named_partings(partings: Sequence[Parting]) -> str:
    """The first of `partings` by name, with how far they are apart."""
    return ", ".join(map(str, partings[:_MOST_NAMED])) + " …" * (len(partings) > _MOST_NAMED)


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
    return bool(np.array_equal(_bits(np.ascontiguousarray(one)), _bits(np.ascontiguousarray(two))))


def _parting(name: str, one: Value, two: Value) -> Parting:
    assert not isinstance(one, NoValue)
    assert not isinstance(two, NoValue)
    if one.dtype != two.dtype or one.shape != two.shape or one.dtype.hasobject:
        return Parting(name, max(one.size, two.size))
    one, two = np.ascontiguousarray(one).ravel(), np.ascontiguousarray(two).ravel()
    other = _bits(one) != _bits(two)
    elements = int((other if other.ndim == 1 else other.any(axis=1)).sum())
    if not is_inexact(one.dtype) or one.dtype.kind == "c":
        return Parting(name, elements)
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.float64) - two.astype(np.float64))
    numbers = np.isfinite(apart)
    ulps = _ulps(one, two)
    return Parting(name, elements, float(apart[numbers].max(initial=0.0)), ulps, _told(one, two, ulps))


def _bits(values: Array) -> Array:
    """The bits of each element: as one number, or byte by byte where no dtype is as wide."""
    flat, width = values.reshape(-1), values.dtype.itemsize
    if width in (1, 2, 4, 8):
        return flat.view(np.dtype(f"u{width}"))
    return flat.view(np.uint8).reshape(flat.size, width)


def _ulps(one: Array, two: Array) -> int | None:
    """The largest distance of two elements that are no NaN; None for a dtype of more than 64 bits."""
    if one.dtype.itemsize > 8:
        return None
    return int(_distances(*_numbers(one, two)).max(initial=0))


def _told(one: Array, two: Array, ulps: int | None) -> str:
    """How two arrays that are not the same differ, in words; empty where `ulps` says enough, or nothing does."""
    if bool((np.isnan(one) != np.isnan(two)).any()):
        return "NaN in one of the two"
    if ulps is None or 0 < ulps <= _MOST_ULP:
        return ""
    if not ulps:
        return "NaN of other bits" if bool(np.isnan(one).any()) else "zeros of the other sign"
    numbers = _numbers(one, two)
    at = int(_distances(*numbers).argmax())
    return " and ".join(str(values[at]) for values in numbers)


def _numbers(one: Array, two: Array) -> tuple[Array, Array]:
    """The elements that are no NaN in both."""
    numbers = ~(np.isnan(one) | np.isnan(two))
    return one[numbers], two[numbers]


def _distances(one: Array, two: Array) -> Array:
    places = [_place(values, one.dtype.itemsize) for values in (one, two)]
    found: Array = np.where(places[0] > places[1], places[0] - places[1], places[1] - places[0])
    return found


def _place(values: Array, width: int) -> Array:
    """Where each float stands among all floats of its dtype, counted from the lowest: neighbours are 1 apart."""
    raw = values.view(np.dtype(f"u{width}")).astype(np.uint64)
    sign = np.uint64(1 << (8 * width - 1))
    return np.where(raw & sign, sign - (raw & (sign - np.uint64(1))), raw + sign)
