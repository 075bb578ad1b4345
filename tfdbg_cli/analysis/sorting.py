"""Sorting very many things in small steps, so that whoever waits for a key is answered meanwhile."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from tfdbg_cli.model.values import Array

_Found = TypeVar("_Found")
Key: TypeAlias = int | str | float | tuple[int | float | tuple[int, ...], ...]

_ASKED = 1024  # things that are looked at in one step
_PART = 4096  # things, about, that are sorted in one step
_PARTED = 1 << 16  # things that find their places in one step, where it is known of which part they are
_SAMPLED = 16  # keys for each such part, drawn to find out where it begins


def sorted_in_steps(
    things: Sequence[int], key: Callable[[int], Key], *, reverse: bool = False
) -> Iterator[Sequence[int] | None]:
    """`things` sorted as `sorted` sorts them: None while it goes on, then the answer.

    Where there are few different keys, as there are few op types, things with the same go to their places together.
    Else keys drawn by chance say where the whole is cut into parts that are sorted alone. So no step takes longer the
    more there are. What was made for it is given back in steps, too, and is nothing that the garbage collector has to
    go through: a list of a million numbers keeps both as long as some frames.
    """
    # Reversed before and behind: equal ones keep their order in both directions.
    ahead = things[::-1] if reverse else things
    different = _Numbered()
    its = np.empty(len(ahead), np.uint16)  # the number of the key of each; there are fewer numbers than that
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
    """Numbers of keys: each key that is asked for and has none gets the next one."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number


def _by_few_keys(
    ahead: Sequence[int], different: Sequence[Key], its: Array, reverse: bool
) -> Iterator[Sequence[int] | None]:
    """`ahead` sorted, in steps, by keys of which there are few `different` ones; `its` are their numbers."""
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
    """Write the numbers of things to `places`, by their `part`; gives how many are in each of `parts`."""
    lengths = np.zeros(parts, np.int64)
    for start in range(0, len(part), _PARTED):
        lengths += np.bincount(part[start : start + _PARTED], minlength=parts)
        yield
    free = np.cumsum(lengths) - lengths  # where the next of each part goes
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
    """The same numbers for NumPy, which goes through a range one by one."""
    if isinstance(things, range):
        return np.arange(things.start, things.stop, things.step)
    return np.asarray(things, np.int64)


def _by_many_keys(
    ahead: Sequence[int], key: Callable[[int], Key], different: Sequence[Key], its: Array, reverse: bool
) -> Iterator[Sequence[int] | None]:
    """`ahead` sorted, in steps, part by part. Keys of the first ones are known: those `different` ones, by number.

    Things whose key is where the whole is cut need no sorting: there may be very many of them.
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
    """Keys, each once and in order, that divide all into parts of about `_PART`; none where one part is enough."""
    import random  # a first screen sorts nothing

    parts = len(keys) // _PART
    drawn = sorted(random.Random(0).choices(keys, k=_SAMPLED * parts)) if parts else []
    return sorted(set(drawn[_SAMPLED // 2 :: _SAMPLED]))


def last_of(steps: Iterator[_Found | None]) -> _Found:
    """The answer of what goes on in steps, all of them done at once."""
    return next(found for found in steps if found is not None)
