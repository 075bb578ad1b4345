"""Sorting very many things in small steps, so that the screen can answer keys meanwhile."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from tfdbg_cli.model.values import Array

_Found = TypeVar("_Found")
Key: TypeAlias = int | str | float | tuple[int | float | tuple[int, ...], ...]

_ASKED = 1024  # things whose keys are computed in one step
_PART = 4096  # approximate number of things that are sorted in one step
_PARTED = 1 << 16  # things that are moved to their part in one step, once it is known
_SAMPLED = 16  # sampled keys per part, from which the boundaries of parts are chosen


def sorted_in_steps(
    things: Sequence[int], key: Callable[[int], Key], *, reverse: bool = False
) -> Iterator[Sequence[int] | None]:
    """Sort `things` as `sorted` does (stable, also with `reverse`): yields None in between, then the result.

    If there are few different keys, such as op types, this is a counting sort. Otherwise it is a sample sort: random
    keys divide the whole into parts that are sorted one by one. So the time of a step does not grow with the number
    of things. Temporary data is freed in steps, too, and held in arrays, which the garbage collector does not
    traverse: freeing or traversing a list of a million objects would take as long as some frames.
    """
    # Reversing the input and the result keeps equal things in their order.
    ahead = things[::-1] if reverse else things
    different = _Numbered()
    its = np.empty(len(ahead), np.uint16)  # for each thing, the number of its key; at most `_PART + _ASKED` numbers
    asked = 0
    while asked < len(ahead) and len(different) <= _PART:
        some = ahead[asked : asked + _ASKED]
        its[asked : asked + len(some)] = np.fromiter(map(different.__getitem__, map(key, some)), np.uint16, len(some))
        asked += len(some)
        yield None
    if len(different) <= _PART:
        yield from _by_few_keys(ahead, list(different), its, reverse)
    else:
        yield from _by_many_keys(ahead, key, list(different), its[:asked], reverse)


class _Numbered(dict[Key, int]):
    """Numbers keys from 0: looking up a new key assigns it the next number."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number


def _by_few_keys(
    ahead: Sequence[int], different: Sequence[Key], its: Array, reverse: bool
) -> Iterator[Sequence[int] | None]:
    """The counting sort, in steps: `its` has for each of `ahead` the number of its key in `different`."""
    in_order = sorted(range(len(different)), key=different.__getitem__)
    rank = np.empty(len(different), np.uint16)
    rank[in_order] = np.arange(len(different))
    for start in range(0, len(its), _PARTED):
        its[start : start + _PARTED] = rank.take(its[start : start + _PARTED])
        yield None
    places = np.empty(len(its), np.int64)
    yield from parted_in_steps(its, len(different), places)
    numbers = np.empty(len(its), np.int64)
    for start in range(0, len(its), _PARTED):
        numbers[start : start + _PARTED] = numbered(ahead[start : start + _PARTED])
        yield None
    in_order_of = places[:: -1 if reverse else 1]
    found = array("q")
    for start in range(0, len(its), _PARTED):
        found.frombytes(numbers.take(in_order_of[start : start + _PARTED]).tobytes())
        yield None
    yield found


def parted_in_steps(part: Array, parts: int, places: Array) -> Generator[None, None, Array]:
    """Write to `places` the indices of `part`, stably sorted by part; returns the size of each of the `parts`."""
    lengths = np.zeros(parts, np.int64)
    for start in range(0, len(part), _PARTED):
        lengths += np.bincount(part[start : start + _PARTED], minlength=parts)
        yield
    free = np.cumsum(lengths) - lengths  # for each part, the next free position in `places`
    for start in range(0, len(part), _PARTED):
        some = part[start : start + _PARTED]
        order = np.argsort(some, kind="stable")
        its = some[order]
        counts = np.bincount(its, minlength=len(free))
        places[(free - np.cumsum(counts) + counts)[its] + np.arange(len(its))] = start + order
        free += counts
        yield
    return lengths


def numbered(things: Sequence[int]) -> Array:
    """`things` as an int64 array; fast for a range, which NumPy would convert element by element."""
    if isinstance(things, range):
        return np.arange(things.start, things.stop, things.step)
    return np.asarray(things, np.int64)


def _by_many_keys(
    ahead: Sequence[int], key: Callable[[int], Key], different: Sequence[Key], its: Array, reverse: bool
) -> Iterator[Sequence[int] | None]:
    """The sample sort, in steps. The keys of the first `len(its)` things are known: `different[its[i]]`.

    Things whose key equals a boundary are not sorted, since they are all equal, and may be very many.
    """
    keys: Array = np.empty(len(ahead), object)
    for start in range(0, len(its), _ASKED):
        some = its[start : start + _ASKED].tolist()
        keys[start : start + _ASKED] = np.fromiter(map(different.__getitem__, some), object, len(some))
        yield None
    for start in range(len(its), len(ahead), _ASKED):
        asked = ahead[start : start + _ASKED]
        keys[start : start + _ASKED] = np.fromiter(map(key, asked), object, len(asked))
        yield None
    cuts = _cuts(keys)
    between = [array("q") for _ in range(len(cuts) + 1)]
    at_cut = [array("q") for _ in cuts]
    for start in range(0, len(keys), _ASKED):
        for place, asked_key in enumerate(keys[start : start + _ASKED].tolist(), start):
            cut = bisect_left(cuts, asked_key)
            (at_cut if cut < len(cuts) and cuts[cut] == asked_key else between)[cut].append(place)
        yield None
    found = array("q")
    for cut, part in enumerate(between):
        in_order = sorted(part, key=keys.__getitem__)
        yield None
        for places in (in_order, at_cut[cut] if cut < len(cuts) else ()):
            for start in range(0, len(places), _PART):
                found.extend([ahead[place] for place in places[start : start + _PART]])
                yield None
    for start in range(0, len(keys), _PART):
        keys[start : start + _PART] = None
        yield None
    yield found[::-1] if reverse else found


def _cuts(keys: Array) -> list[Key]:
    """Distinct keys in ascending order that divide `keys` into parts of about `_PART`; none if one part is enough."""
    import random  # a first screen sorts nothing

    parts = len(keys) // _PART
    drawn = sorted(random.Random(0).choices(keys, k=_SAMPLED * parts)) if parts else []
    return sorted(set(drawn[_SAMPLED // 2 :: _SAMPLED]))


def last_of(steps: Iterator[_Found | None]) -> _Found:
    """Run all `steps` and return their result, the first item that is not None."""
    return next(found for found in steps if found is not None)
