"""Whether a debugged run gave the numbers of an undebugged one, how that is known, and where they part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.values import Array, NoValue, Value

_MOST_NAMED = 3
_SMALL = 1 << 14  # bytes
_SLICE = 1 << 14  # elements that are measured at a time: what is computed of them stays in the cache
_WIDEST = 8  # bytes of a float whose neighbours can be counted
_RACE = "Its ops use {name} in no order that the graph fixes: undebugged, too, that may change from run to run."
_OTHER_NANS = "NaN of other bits"
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
    `order` names what ops of the run used in another order than undebugged, perhaps: then all digits may be others.
    `race` names what its ops use in no order that the graph fixes, in a run that was left as it is: undebugged, too,
    another run from the same state may take another order.
    """

    way: Way
    compared: int = 0
    differs: tuple[Parting, ...] = ()
    strays: tuple[Parting, ...] = ()
    doubt: str = ""
    note: str = ""
    order: str = ""
    race: str = ""

    @property
    def words(self) -> str:
        """What is not the same, or may not be, in few words for a narrow line; empty where the program is exact."""
        if self.order:
            return f"not exact: the order of what uses {self.order}"
        if self.strays:
            return f"not exact: {named_partings(self.strays)}"
        if self.doubt:
            return "may not be exact"
        return f"the order of what uses {self.race} is left to chance" if self.race else ""

    @property
    def program_exact(self) -> bool:
        """Whether the program got its own numbers, as far as is known, and nothing speaks against it."""
        return not self.strays and not self.doubt

    @property
    def exact(self) -> bool:
        """Whether the values shown are the program's, and these its own."""
        return self.program_exact and not self.differs

    @property
    def numbers_exact(self) -> bool:
        """Whether the values shown differ from the program's in nothing but the bits of NaN."""
        return all(parting.told == _OTHER_NANS for parting in self.differs)

    @property
    def sentence(self) -> str:
        """It all in a few sentences, for the screen."""
        race = _RACE.format(name=self.race) if self.race else ""
        return " ".join(filter(None, (self._about_program, race, self.note, self._about_values)))

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
        again = "" if self.program_exact else "In the run made again for the screen "
        return f"{again}{self.compared} {what} the same to the last bit."


def named_partings(partings: Sequence[Parting]) -> str:
    """The first of `partings` by name, with how far they are apart."""
    return ", ".join(map(str, partings[:_MOST_NAMED])) + " …" * (len(partings) > _MOST_NAMED)


def parted(names: Iterable[str], first: Iterable[Value], again: Iterable[Value]) -> tuple[Parting, ...]:
    """Those of the values called `names` that are not the same to the last bit; values that are not known are."""
    pairs = [pair for pair in zip(names, first, again, strict=True) if not same_bits(*pair[1:])]
    near = _near_together([pair for pair in pairs if _is_small(*pair[1:])])
    found = ((next(near) if _is_small(one, two) else None) or _parting(name, one, two) for name, one, two in pairs)
    return tuple(found)


def same_bits(one: Value, two: Value) -> bool:
    """Whether two values are the same to the last bit, NaN included; values that are not known are."""
    if isinstance(one, NoValue) or isinstance(two, NoValue):
        return True
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.hasobject:
        return bool(np.array_equal(one, two))
    one, two = np.ascontiguousarray(one), np.ascontiguousarray(two)
    if one.nbytes <= _SMALL:  # most variables of a network are: what NumPy does before it begins takes longer
        return one.tobytes() == two.tobytes()
    bits, other_bits = _bits(one), _bits(two)
    # Where arrays differ they most often do so soon.
    return bool(np.array_equal(bits[:_SLICE], other_bits[:_SLICE]) and np.array_equal(bits, other_bits))


def _is_small(one: Value, two: Value) -> bool:
    """Whether two arrays of float32 are so small that NumPy takes longer to begin than to go over them."""
    assert not isinstance(one, NoValue)
    assert not isinstance(two, NoValue)
    return one.nbytes <= _SMALL and one.dtype == two.dtype == np.float32 and one.shape == two.shape


def _near_together(pairs: Sequence[tuple[str, Any, Any]]) -> Iterator[Parting | None]:
    """The parting of each of these pairs of small arrays; None where two elements are no roundings of one number."""
    one = np.concatenate([first.ravel() for _, first, _ in pairs])
    two = np.concatenate([second.ravel() for _, _, second in pairs])
    starts = np.cumsum([0, *(pair[1].size for pair in pairs[:-1])])
    with np.errstate(all="ignore"):
        gaps = np.maximum.reduceat(_gaps(one, two), starts)
    steps = _steps(one, two)
    farthest = np.maximum.reduceat(steps, starts)
    counts = np.add.reduceat(steps != 0, starts, dtype=np.intp)
    for (name, _, _), count, gap, ulps in zip(pairs, counts, gaps, farthest, strict=True):
        near = ulps <= _MOST_ULP and np.isfinite(gap)
        yield Parting(name, int(count), float(gap), int(ulps)) if near else None


def _steps(one: Array, two: Array) -> Array:
    """How many numbers of float32 lie from each element of `one` to that of `two`, if both are of the same sign.

    Two finite numbers of different signs are at least 2 ** 23 apart so.
    """
    steps = one.view(np.int32) - two.view(np.int32)
    return np.abs(steps, out=steps).view(np.uint32)


def _gaps(one: Array, two: Array) -> Array:
    """The differences without sign: exact where the two are so near that one is less than twice the other."""
    gaps: Array = one - two
    return np.abs(gaps, out=gaps)


def _parting(name: str, one: Value, two: Value) -> Parting:
    assert not isinstance(one, NoValue)
    assert not isinstance(two, NoValue)
    if one.dtype != two.dtype or one.shape != two.shape or one.dtype.hasobject:
        return Parting(name, max(one.size, two.size))
    one, two = np.ascontiguousarray(one).ravel(), np.ascontiguousarray(two).ravel()
    measures = is_inexact(one.dtype) and one.dtype.kind != "c"
    elements, distance, bits, other_bits = 0, _Distance(), _bits(one), _bits(two)
    with np.errstate(all="ignore"):
        for start in range(0, one.size, _SLICE):
            at = slice(start, start + _SLICE)
            first, second = one[at], two[at]
            near = distance.add_near(first, second) if measures else None
            if near is not None:
                elements += near
                continue
            other = bits[at] != other_bits[at]
            other = other if other.ndim == 1 else other.any(axis=1)
            count = int(np.count_nonzero(other))
            elements += count
            if measures and count:
                distance.add(*((first, second) if count == first.size else (first[other], second[other])))
    if not measures:
        return Parting(name, elements)
    ulps = distance.ulps if one.dtype.itemsize <= _WIDEST else None
    return Parting(name, elements, distance.gap, ulps, distance.told(ulps))


@dataclass(slots=True)
class _Distance:
    """How far apart two arrays are in the elements that differ, which are added slice by slice.

    Whoever adds them keeps NumPy from warning of numbers that are not finite (`np.errstate`).

    `gap` is the largest difference that is a number, `ulps` the largest distance of two numbers: the two `farthest`.
    `nan` says whether the first has a NaN, `nan_in_one` whether one of the two has one where the other has a number.
    """

    gap: float = 0.0
    ulps: int = 0
    farthest: tuple[Any, ...] = ()
    nan: bool = False
    nan_in_one: bool = False

    def add_near(self, one: Array, two: Array) -> int | None:
        """Take `one` and `two` into account, be they equal or not, where that is quick: how many elements differ.

        That is in float32, without NaN, and where no two are too far apart to be roundings of one number. Else they
        are left alone, and the answer is None.
        """
        if one.dtype != np.float32:
            return None
        steps = _steps(one, two)
        farthest = int(np.maximum.reduce(steps))
        if farthest > _MOST_ULP:
            return None
        largest = np.maximum.reduce(_gaps(one, two))
        if not math.isfinite(largest):
            return None
        self.gap = max(self.gap, float(largest))
        self.ulps = max(self.ulps, farthest)
        return int(np.count_nonzero(steps))

    def add(self, one: Array, two: Array) -> None:
        """Take the elements of `one` and `two` into account, all of which differ."""
        apart = one.astype(np.float64)
        apart -= two.astype(np.float64)
        np.abs(apart, out=apart)
        largest = float(apart.max())
        if math.isfinite(largest):  # so there is no NaN in either
            self.gap = max(self.gap, largest)
        else:
            self.gap = max(self.gap, float(apart[np.isfinite(apart)].max(initial=0.0)))
            nans = np.isnan(one), np.isnan(two)
            self.nan = self.nan or bool(nans[0].any())
            self.nan_in_one = self.nan_in_one or bool((nans[0] != nans[1]).any())
            numbers = ~(nans[0] | nans[1])
            one, two = one[numbers], two[numbers]
        if one.dtype.itemsize <= _WIDEST:
            self._add_numbers(one, two)

    def _add_numbers(self, one: Array, two: Array) -> None:
        distances = _distances(one, two)
        ulps = int(distances.max(initial=0))
        if ulps > self.ulps:
            at = int(distances.argmax())
            self.ulps, self.farthest = ulps, (one[at], two[at])

    def told(self, ulps: int | None) -> str:
        """How the two differ, in words; empty where `ulps` says enough, or nothing does."""
        if self.nan_in_one:
            return "NaN in one of the two"
        if ulps is None or 0 < ulps <= _MOST_ULP:
            return ""
        if not ulps:
            return _OTHER_NANS if self.nan else "zeros of the other sign"
        return " and ".join(map(str, self.farthest))


def _bits(values: Array) -> Array:
    """The bits of each element: as one number, or byte by byte where no dtype is as wide."""
    flat, width = values.reshape(-1), values.dtype.itemsize
    if width in (1, 2, 4, 8):
        return flat.view(np.dtype(f"u{width}"))
    return flat.view(np.uint8).reshape(flat.size, width)


_SIGNED = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}


def _distances(one: Array, two: Array) -> Array:
    raw = _SIGNED[one.dtype.itemsize]
    ours, theirs = one.view(raw), two.view(raw)
    if (ours ^ theirs).min(initial=0) >= 0:  # of one sign bits are in the order of the numbers, or against it
        between: Array = ours - theirs
        return _bits(np.abs(between, out=between))
    first, second = _place(one), _place(two)
    # The difference may be larger than an integer with a sign holds: its bits are right all the same.
    apart = np.maximum(first, second)
    apart -= np.minimum(first, second)
    return _bits(apart)


def _place(values: Array) -> Array:
    """Where each float stands among all floats of its dtype, counted from zero: neighbours are 1 apart."""
    sign = 8 * values.dtype.itemsize - 1
    raw = values.view(np.dtype(f"i{values.dtype.itemsize}"))
    negative: Array = raw >> sign  # all bits are set, or none
    found: Array = negative & ((1 << sign) - 1)
    found ^= raw
    found -= negative
    return found
