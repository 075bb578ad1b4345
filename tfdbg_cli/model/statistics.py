"""Counts and moments of an array, for every element type."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.repeated_element import of_each, repeated_element
from tfdbg_cli.model.values import Array

_BAD = frozenset({"nan", "neg_inf", "pos_inf"})
_CHUNK = 1 << 20  # elements widened at a time, so that a summary of a large tensor stays small
_PLAIN = 2.0**-400, 2.0**480  # between them, and for 0, squares and their sums neither overflow nor vanish
_WHOLE = 2**53  # up to here float64 holds all integers
_DOWN, _UP = 2.0**-600, 2.0**600  # powers of two, by which numbers are scaled exactly


@dataclass(frozen=True, slots=True)
class Summary:
    """What an array holds, in numbers.

    For complex arrays an element counts as NaN or infinite when either part is (infinite as `pos_inf`),
    other non-zero elements as `pos`, and min, max, mean and std are those of the magnitude (`of_magnitude`).
    For booleans `zero` counts False and `pos` True. min, max, mean, std are over the finite elements and
    None where there are none, and for strings; min and max of integers are exact, unless they were recorded without
    the value. `unknown` are the names of what a recording
    without values does not tell; what stands there in their place means nothing. `spoiled` says that some element is
    NaN or infinite, where nobody counted how many.
    """

    size: int
    nan: int = 0
    neg_inf: int = 0
    pos_inf: int = 0
    neg: int = 0
    zero: int = 0
    pos: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    of_magnitude: bool = False
    unknown: frozenset[str] = frozenset()
    spoiled: bool = False

    def told(self, name: str) -> int | float | None:
        """What is called `name` above; None where nobody knows it, or there is none."""
        found: int | float | None = None if name in self.unknown else getattr(self, name)
        return found

    @classmethod
    def finite(cls) -> Summary:
        """That nothing is NaN or infinite, and no more is known."""
        return cls(0, unknown=frozenset({"size", "neg", "zero", "pos", "min", "max", "mean", "std"}))

    @property
    def nonfinite(self) -> int:
        """How many elements are NaN or infinite, as far as that is known."""
        return self.nan + self.neg_inf + self.pos_inf

    @property
    def holds_numbers(self) -> bool:
        """Whether an element was counted, or may have been: none is of texts, and of what is empty."""
        return bool(self.nonfinite + self.neg + self.zero + self.pos or self.spoiled or self.unknown)

    @property
    def tells_nonfinite(self) -> bool:
        """Whether NaN and infinities were counted."""
        return not self.unknown & _BAD

    @property
    def any_nonfinite(self) -> bool | None:
        """Whether some element is NaN or infinite; None where nobody knows."""
        if self.nonfinite or self.spoiled:
            return True
        return False if self.tells_nonfinite else None


def has_numbers(array: Array) -> bool:
    """Whether a summary of `array` says more than its size (false for strings and objects)."""
    return array.dtype.kind in "biufc" or is_inexact(array.dtype) or array.dtype.kind == "V"


def _scale_for(low: float | None, high: float | None) -> float:
    """What finite numbers from `low` to `high` are multiplied by to sum up their squares: 1 for nearly all."""
    largest = max(abs(low or 0), abs(high or 0))
    return 1.0 if not largest or _PLAIN[0] <= largest <= _PLAIN[1] else _DOWN if largest > 1 else _UP


class _Moments:
    """Sums up numbers times `scale` (see `_scale_for`) in float64, by Chan's update of moments between parts."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._count, self._mean, self._square = 0, 0.0, 0.0

    def add(self, finite: Array) -> None:
        """Take the elements of `finite`, float64 without NaN and infinities, at least one."""
        with np.errstate(all="ignore"):  # where the scale turns out to be another one
            scaled = finite if self._scale == 1 else finite * self._scale
            mean = float(scaled.mean())
            self._take(scaled.size, mean, float(np.square(scaled - mean).sum()))

    def add_part(self, count: int, mean: float, std: float) -> None:
        """Take `count` numbers of which these moments are known."""
        deviation = std * self._scale
        self._take(count, mean * self._scale, deviation * deviation * count)

    def _take(self, count: int, mean: float, square: float) -> None:
        delta, total = mean - self._mean, self._count + count
        self._mean += delta * count / total
        self._square += square + delta * delta * self._count * count / total
        self._count = total

    def between(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """Mean and std of the numbers, which lie from `low` to `high`; None, None where there were none."""
        if not self._count or low is None or high is None:
            return (self._mean, math.sqrt(self._square / self._count)) if self._count else (None, None)
        mean, std = self._mean / self._scale, math.sqrt(self._square / self._count) / self._scale
        if self._scale == 1:
            return mean, std
        return min(max(mean, low), high), min(std, high / 2 - low / 2)  # a rounding may lead beyond the largest float


def summarize(array: Array) -> Summary:
    """Count and average `array` (any shape, any element type), a chunk at a time.

    Moments are accumulated in float64 (pairwise by NumPy inside a chunk, Chan's update between chunks), scaled
    where squares of numbers of that size do not fit into it.
    """
    if not has_numbers(array) or array.dtype.hasobject:
        return Summary(size=array.size)
    element = repeated_element(array)
    if element is not None:
        return _many_times(summarize(element), array.size)
    flat = array.reshape(-1)
    complex_ = array.dtype.kind == "c"
    counts = np.zeros(6, np.int64)
    low: float | None = None
    high: float | None = None
    moments = _Moments()
    for start in range(0, flat.size, _CHUNK):
        chunk = widened(flat[start : start + _CHUNK])
        fine = np.isfinite(chunk)
        finite = chunk if fine.all() else chunk[fine]
        if finite.size < chunk.size:
            counts[:3] += [np.isnan(chunk).sum(), np.isneginf(chunk).sum(), np.isposinf(chunk).sum()]
        below, above = np.count_nonzero(finite < 0), np.count_nonzero(finite > 0)
        counts[3:] += [below, finite.size - below - above, above]
        if finite.size:
            least, most = _extremes(flat[start : start + _CHUNK], finite)
            low, high = least if low is None else min(low, least), most if high is None else max(high, most)
            moments.add(finite)
    if (scale := _scale_for(low, high)) != 1:
        moments = _scaled_moments(flat, scale)
    average, std = moments.between(low, high)
    if low is not None and high is not None and _are_wide(low, high):
        *_, (average, std) = _moments_of_wide(flat, int(low))
    nan_, neg_inf_, pos_inf_, neg, zero, pos = (int(n) for n in counts)
    return Summary(flat.size, nan_, neg_inf_, pos_inf_, neg, zero, pos, low, high, average, std, complex_)


def _scaled_moments(flat: Array, scale: float) -> _Moments:
    """Those of the finite elements of `flat`, whose squares are too large or too small as they are."""
    moments = _Moments(scale)
    for start in range(0, flat.size, _CHUNK):
        chunk = widened(flat[start : start + _CHUNK])
        finite = chunk[np.isfinite(chunk)]
        if finite.size:
            moments.add(finite)
    return moments


def _are_wide(low: float, high: float) -> bool:
    """Whether these are integers of which a float64 does not hold all that lie between."""
    return isinstance(low, int) and isinstance(high, int) and max(-low, high) > _WHOLE


def _moments_of_wide(flat: Array, low: int) -> Iterator[tuple[float, float]]:
    """Mean and std of integers from `low` on, taken of what they are more than that.

    They are told chunk after chunk, of all so far: in between there is a chance to look at the keyboard.
    """
    moments = _Moments()
    for start in range(0, flat.size, _CHUNK):
        more = flat[start : start + _CHUNK].astype(np.uint64) - np.uint64(low % 2**64)
        moments.add(more.astype(np.float64))
        mean, std = moments.between(None, None)
        yield low + (mean or 0.0), std or 0.0


def _extremes(chunk: Array, finite: Array) -> tuple[float, float]:
    """The least and the most of the finite elements: of integers as such, since float64 does not hold all of them."""
    if chunk.dtype.kind in "iu":
        return int(chunk.min()), int(chunk.max())
    if chunk.dtype.kind == "V" and not is_inexact(chunk.dtype):  # integers of less than a byte
        return int(finite.min()), int(finite.max())
    return float(finite.min()), float(finite.max())


_STEP = 1 << 17  # elements counted between two chances to look at the keyboard


def summarize_in_steps(array: Array) -> Iterator[Summary | None]:
    """The summary of `array`: None while it goes on, then the answer."""
    if array.size <= _STEP or not has_numbers(array) or array.dtype.hasobject or repeated_element(array) is not None:
        yield summarize(array)
        return
    flat = array.reshape(-1)
    parts: list[Summary] = []
    for start in range(0, flat.size, _STEP):
        parts.append(summarize(flat[start : start + _STEP]))
        yield None
    whole = merged(parts)
    if whole.min is not None and whole.max is not None and _are_wide(whole.min, whole.max):
        for mean, std in _moments_of_wide(flat, int(whole.min)):
            whole = replace(whole, mean=mean, std=std)
            yield None
    yield whole


def histogram_in_steps(array: Array, summary: Summary, bins: int) -> Iterator[tuple[int, ...] | None]:
    """Yield None while it counts, then how many finite elements lie in each of `bins` equal parts of their range.

    The counts are empty without numbers; of a broadcast array (`repeated_element`) the element is counted once.
    """
    if summary.min is None or summary.max is None or not has_numbers(array) or array.dtype.hasobject:
        yield ()
        return
    counts = np.zeros(bins, np.int64)
    element = repeated_element(array)
    flat = (array if element is None else element).reshape(-1)
    # Halve before subtracting: max - min would overflow where both are near the largest float64.
    low, width = summary.min / 2, summary.max / 2 - summary.min / 2
    for start in range(0, flat.size, _STEP):
        chunk = widened(flat[start : start + _STEP])
        finite = chunk[np.isfinite(chunk)]
        shares = (finite / 2 - low) / width if width else np.zeros(finite.size)
        counts += np.bincount(np.minimum((shares * bins).astype(np.int64), bins - 1), minlength=bins)
        yield None
    yield tuple(map(int, counts))


def _many_times(one: Summary, times: int) -> Summary:
    """The summary of an array of `times` copies of one element, from the summary `one` of a single copy."""
    return replace(
        one, size=times, nan=one.nan * times, neg_inf=one.neg_inf * times, pos_inf=one.pos_inf * times,
        neg=one.neg * times, zero=one.zero * times, pos=one.pos * times,
    )  # fmt: skip


def merged(summaries: Sequence[Summary]) -> Summary:
    """Combine the summaries of arrays (at least one) into that of all their elements, by Chan's update of moments."""
    low = min((summary.min for summary in summaries if summary.min is not None), default=None)
    high = max((summary.max for summary in summaries if summary.max is not None), default=None)
    moments = _Moments(_scale_for(low, high))
    for part in summaries:
        size = part.neg + part.zero + part.pos
        if size and part.mean is not None and part.std is not None:
            moments.add_part(size, part.mean, part.std)
    return Summary(
        sum(part.size for part in summaries),
        sum(part.nan for part in summaries),
        sum(part.neg_inf for part in summaries),
        sum(part.pos_inf for part in summaries),
        sum(part.neg for part in summaries),
        sum(part.zero for part in summaries),
        sum(part.pos for part in summaries),
        low,
        high,
        *moments.between(low, high),
        of_magnitude=summaries[0].of_magnitude,
        unknown=frozenset().union(*(part.unknown for part in summaries)),
        spoiled=any(part.spoiled for part in summaries),
    )


def summaries_of(elements: Array, lengths: Sequence[int]) -> list[Summary]:
    """The summaries of many small arrays at once, which takes a fraction of the time of one by one.

    `elements` is their concatenation, 1-D float64; `lengths` are their sizes, none of which may be 0.
    """
    if not lengths:
        return []
    sizes = np.asarray(lengths)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def summed(found: Array) -> Array:
        return np.asarray(np.add.reduceat(found.astype(np.float64), starts))

    finite = np.isfinite(elements)
    kept = np.where(finite, elements, 0)
    with np.errstate(all="ignore"):
        count = summed(finite)
        mean = summed(kept) / count
        square = summed(np.square(np.where(finite, elements - np.repeat(mean, sizes), 0))) / count
    counts = [
        sizes, summed(np.isnan(elements)), summed(elements == -np.inf), summed(elements == np.inf),
        summed(kept < 0), summed(finite & (elements == 0)), summed(kept > 0),
    ]  # fmt: skip
    least = np.minimum.reduceat(np.where(finite, elements, np.inf), starts)
    largest = np.maximum.reduceat(np.where(finite, elements, -np.inf), starts)
    rows = zip(
        np.stack(counts, 1).astype(np.int64).tolist(),
        np.stack([least, largest, mean, np.sqrt(square)], 1).tolist(),
        count.tolist(),
        strict=True,
    )
    found = [Summary(*numbers, *(moments if some else ())) for numbers, moments, some in rows]
    for i, summary in enumerate(found):
        if _scale_for(summary.min, summary.max) != 1:
            found[i] = summarize(elements[starts[i] : starts[i] + sizes[i]])
    return found


def widened(chunk: Array) -> Array:
    """`chunk` as float64, for tests and moments; complex numbers become magnitudes, NaN if either part is."""
    if chunk.dtype.kind == "c":
        parts = in_double(np.stack([chunk.real, chunk.imag]))
        # hypot of an infinity and a NaN is an infinity; a NaN part makes the element a NaN here.
        return np.where(np.isnan(parts).any(axis=0), np.nan, np.hypot(parts[0], parts[1]))
    return in_double(chunk)


def nonfinite_mask(array: Array) -> Array:
    """True where an element is NaN or infinite; all False for types that hold neither."""
    if not is_inexact(array.dtype):
        return np.zeros(array.shape, np.bool_)
    return of_each(_not_finite, array)


def _not_finite(array: Array) -> Array:
    return np.asarray(~np.isfinite(array))


def any_nonfinite(array: Array) -> bool:
    """Whether `array` holds a NaN or an infinity."""
    if not is_inexact(array.dtype) or array.size == 0:
        return False
    element = repeated_element(array)
    looked_at = array if element is None else element
    if not looked_at.flags.forc:  # flattening a non-contiguous array would copy it
        return not bool(np.isfinite(looked_at).all())
    flat = looked_at.ravel(order="K")
    # By chunks: intermediate results stay in the cache, and a bad element ends the search early.
    return not all(np.isfinite(flat[start : start + _CHUNK]).all() for start in range(0, flat.size, _CHUNK))


def largest_magnitude(array: Array, *, finite: bool = True) -> float:
    """The largest absolute value in `array`, NaN left out; of a complex number, that of its larger part.

    With `finite`, infinities are left out, too. 0 if nothing is left.
    """
    if array.dtype.kind == "c":
        return max(largest_magnitude(array.real, finite=finite), largest_magnitude(array.imag, finite=finite))
    element = repeated_element(array)
    flat, largest = (array if element is None else element).reshape(-1), 0.0
    for start in range(0, flat.size, _CHUNK):
        chunk = flat[start : start + _CHUNK]
        if chunk.dtype.kind != "f":
            chunk = in_double(chunk)  # NumPy has no fmax for ml_dtypes
        high, low = float(np.fmax.reduce(chunk)), float(np.fmin.reduce(chunk))
        if finite and (np.isinf(high) or np.isinf(low)):
            kept = chunk[np.isfinite(chunk)]
            high, low = (float(kept.max()), float(kept.min())) if kept.size else (0.0, 0.0)
        if high == high:
            largest = max(largest, high, -low)
    return largest
