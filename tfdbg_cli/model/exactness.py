"""Whether a debugged run computed the same bits as an undebugged one, how that is known, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.values import Array, NoValue, Value

_MOST_NAMED = 3
_SMALL = 1 << 14  # bytes
_SLICE = 1 << 14  # elements compared at a time, few enough for the intermediate arrays to stay in the cache
_BLOCK = 1 << 22  # elements of which it is asked at a time whether all are the same
_WIDEST = 8  # bytes of the widest float for which ULP distances can be computed, by its bits as an integer
_RACE = "Its ops use {name} in no order that the graph fixes: undebugged, too, that may change from run to run."
_OTHER_NANS = "NaN of other bits"
_NAN_IN_ONE = "NaN in one of the two"
_MOST_ULP = 1_000_000  # beyond this, two numbers do not differ by rounding: both are shown instead of their distance


class ExecutionWay(StrEnum):
    """How the program's own call was executed."""

    UNCHANGED = "unchanged"  # as the program made it; the values shown come from a run made again on copies
    PROVEN = "proven"  # with checks added; TensorFlow's optimizer made the same ops of it as without them
    TRIED = "tried"  # with checks added; its results were compared with those of a plain run from the same state
    GIVEN = "given"  # with checks added; the program got the results of a plain run of the same call on copies
    IN_PLACE = "in place"  # with more outputs, which can change what TensorFlow's optimizer makes of it


@dataclass(frozen=True, slots=True)
class Parting:
    """An output of a run, or a variable after it, that differed between two runs from the same state.

    `elements` is how many elements differ, `max_abs` their largest absolute difference (non-finite ones left out),
    `max_ulp` their largest distance in units in the last place; both are None unless the two are real floats of the
    same dtype and shape. `told` says in words how they differ where no distance does.
    """

    name: str
    elements: int
    max_abs: float | None = None
    max_ulp: int | None = None
    told: str = field(default="", compare=False)

    @property
    def nan_in_one(self) -> bool:
        """Whether an element is NaN in one of the two runs alone."""
        return self.told == _NAN_IN_ONE

    def __str__(self) -> str:
        if self.told or not self.max_ulp:
            return f"{self.name} ({self.told})" if self.told else self.name
        return f"{self.name} (up to {self.max_ulp:,} ULP)"


@dataclass(frozen=True, slots=True)
class Exactness:
    """How closely the numbers of a debugged run match those of an undebugged one.

    `strays` are outputs and variables whose values in the program differ from undebugged ones, in this run or an
    earlier one of the same watch. `differs` are those, of the `compared` ones, in which the run made again for the
    screen differs from the program's. `doubt` says why the program's last digits may differ, empty if they cannot.
    `order` names state that ops of the run may have used in another order than undebugged: then any digit may differ.
    `race` names state that ops of an unchanged run use in an order that the graph does not fix: even undebugged, that
    order may vary from run to run. `note` is one more sentence for the screen.
    """

    way: ExecutionWay
    compared: int = 0
    differs: tuple[Parting, ...] = ()
    strays: tuple[Parting, ...] = ()
    doubt: str = ""
    note: str = ""
    order: str = ""
    race: str = ""

    @property
    def words(self) -> str:
        """What differs, may differ, or is a race, in a few words for a narrow line; empty if nothing does."""
        if self.order:
            return f"not exact: the order of what uses {self.order}"
        if self.strays:
            return f"not exact: {named_partings(self.strays)}"
        if self.doubt:
            return "may not be exact"
        return f"the order of what uses {self.race} is left to chance" if self.race else ""

    @property
    def program_exact(self) -> bool:
        """Whether the program got the numbers of an undebugged run, as far as is known: no `strays`, no `doubt`."""
        return not self.strays and not self.doubt

    @property
    def exact(self) -> bool:
        """Whether the values shown are bit for bit the program's, and those are exact themselves."""
        return self.program_exact and not self.differs

    @property
    def numbers_exact(self) -> bool:
        """Whether the values shown differ from the program's in nothing but the bit patterns of NaN."""
        return all(parting.told == _OTHER_NANS for parting in self.differs)

    @property
    def sentence(self) -> str:
        """All of this in a few sentences, for the screen."""
        return self.told(values=True)

    def told(self, *, values: bool) -> str:
        """As `sentence`; `values` says whether the run has values to show."""
        race = _RACE.format(name=self.race) if self.race else ""
        return " ".join(filter(None, (self._about_program(values), race, self.note, self._about_values)))

    def _about_program(self, values: bool) -> str:
        if self.strays:
            return f"Not exact: under this watch the program gets other last digits in {named_partings(self.strays)}."
        if self.doubt:
            return self.doubt
        match self.way:
            case ExecutionWay.UNCHANGED:
                again = "; the values are of the same run made again on copies" if values else ""
                return f"The program's own call ran unchanged{again}."
            case ExecutionWay.PROVEN:
                return "TensorFlow made the same ops of the run, with what was added to it, as of the plain one."
            case ExecutionWay.TRIED:
                return "Runs from the same state, watched and plain, gave the same."
            case ExecutionWay.GIVEN:
                return "The program was given what the same run, made again on copies and left alone, gave."
            case ExecutionWay.IN_PLACE:
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
    """The names of the first three of `partings`, each with how it differs, for a sentence."""
    return names_text(partings, _MOST_NAMED)


def parted(names: Iterable[str], first: Iterable[Value], again: Iterable[Value]) -> tuple[Parting, ...]:
    """The values, called `names`, that differ in any bit between `first` and `again`; a NoValue never differs."""
    pairs = [pair for pair in zip(names, first, again, strict=True) if not same_bits(*pair[1:])]
    near = _near_together([pair for pair in pairs if _is_small(*pair[1:])])
    found = ((next(near) if _is_small(one, two) else None) or _parting(name, one, two) for name, one, two in pairs)
    return tuple(found)


def same_bits(one: Value, two: Value) -> bool:
    """Whether two values have the same dtype, shape and bits, also of NaN; a NoValue equals everything."""
    if isinstance(one, NoValue) or isinstance(two, NoValue):
        return True
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.hasobject:
        return bool(np.array_equal(one, two))
    one, two = np.ascontiguousarray(one), np.ascontiguousarray(two)
    if one.nbytes <= _SMALL:  # most variables of a network; for these the overhead of a NumPy call would dominate
        return one.tobytes() == two.tobytes()
    bits, other_bits = _bits(one), _bits(two)
    # Where arrays differ they most often do so soon; and of large ones NumPy would hold an answer for each element.
    ends = [0, _SLICE, *range(_SLICE + _BLOCK, len(bits) + _BLOCK, _BLOCK)]
    return all(np.array_equal(bits[at:end], other_bits[at:end]) for at, end in pairwise(ends))


def _is_small(one: Value, two: Value) -> bool:
    """Whether two values are float32 arrays of one shape, so small that NumPy's overhead per call would dominate."""
    assert not isinstance(one, NoValue)
    assert not isinstance(two, NoValue)
    return one.nbytes <= _SMALL and one.dtype == two.dtype == np.float32 and one.shape == two.shape


def _near_together(pairs: Sequence[tuple[str, Any, Any]]) -> Iterator[Parting | None]:
    """The parting of each (name, one, two), computed at once; None where they are not finite or not close (ULP)."""
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
    """The ULP distance (uint32) of the elements of two float32 arrays, correct where both have the same sign.

    For finite numbers of different signs the result is wrong, but at least 2 ** 23, and so beyond `_MOST_ULP`.
    """
    steps = one.view(np.int32) - two.view(np.int32)
    return np.abs(steps, out=steps).view(np.uint32)


def _gaps(one: Array, two: Array) -> Array:
    """The absolute differences; exact (Sterbenz) where neither element is more than twice the other."""
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
    """Accumulates, slice by slice, how far apart two arrays are in the elements that differ.

    The caller has to silence NumPy's floating-point warnings (`np.errstate`).

    `gap` is the largest finite difference, `ulps` the largest ULP distance, `farthest` the two numbers it is between.
    `nan` says that the first array holds a NaN, `nan_in_one` that an element is NaN in only one of the two.
    """

    gap: float = 0.0
    ulps: int = 0
    farthest: tuple[Any, ...] = ()
    nan: bool = False
    nan_in_one: bool = False

    def add_near(self, one: Array, two: Array) -> int | None:
        """Add two slices, equal elements included, by a fast path; return how many elements differ.

        Returns None, and adds nothing, if the slices are not float32, if a difference is not finite, or if elements
        are more than `_MOST_ULP` apart.
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
        """Add elements of two float arrays, all of which differ in their bits."""
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
            return _NAN_IN_ONE
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
    if (ours ^ theirs).min(initial=0) >= 0:  # same signs: the bits are ordered as the magnitudes
        between: Array = ours - theirs
        return _bits(np.abs(between, out=between))
    first, second = _place(one), _place(two)
    # The difference may overflow the signed integer; reinterpreted as unsigned (`_bits`) it is right all the same.
    apart = np.maximum(first, second)
    apart -= np.minimum(first, second)
    return _bits(apart)


def _place(values: Array) -> Array:
    """Map floats to signed integers in the same order, 0.0 to 0, such that adjacent floats are 1 apart."""
    sign = 8 * values.dtype.itemsize - 1
    raw = values.view(np.dtype(f"i{values.dtype.itemsize}"))
    negative: Array = raw >> sign  # all bits are set, or none
    found: Array = negative & ((1 << sign) - 1)
    found ^= raw
    found -= negative
    return found
