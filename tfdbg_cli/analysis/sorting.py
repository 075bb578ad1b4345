"""Sorting very many things in small steps, so that whoever waits for a key is answered meanwhile."""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

_Found = TypeVar("_Found")
Key: TypeAlias = int | str | float | tuple[int | float | tuple[int, ...], ...]

_ASKED = 1024  # things that are looked at in one step
_PART = 4096  # things, about, that are sorted in one step
_SAMPLED = 16  # keys for each such part, drawn to find out where it begins


def sorted_in_steps(
    things: Sequence[int], key: Callable[[int], Key], *, reverse: bool = False
) -> Iterator[Sequence[int] | None]:
    """`things` sorted as `sorted` sorts them: None while it goes on, then the answer.

    Keys drawn by chance say where the whole is cut into parts that are sorted alone. So no step takes longer the more
    there are. Things whose key is such a cut need no sorting: there may be very many of them.
    """
    # Reversed before and behind: equal ones keep their order in both directions.
    ahead = things[::-1] if reverse else things
    keys: list[Key] = []
    for start in range(0, len(ahead), _ASKED):
        keys += map(key, ahead[start : start + _ASKED])
        yield None
    cuts = _cuts(keys)
    between: list[list[int]] = [[] for _ in range(len(cuts) + 1)]
    at_cut: list[list[int]] = [[] for _ in cuts]
    for start in range(0, len(keys), _ASKED):
        for place, asked in enumerate(keys[start : start + _ASKED], start):
            cut = bisect_left(cuts, asked)
            (at_cut if cut < len(cuts) and cuts[cut] == asked else between)[cut].append(place)
        yield None
    found = array("q")
    for cut, part in enumerate(between):
        part.sort(key=keys.__getitem__)
        yield None
        for places in (part, at_cut[cut] if cut < len(cuts) else ()):
            for start in range(0, len(places), _PART):
                found.extend([ahead[place] for place in places[start : start + _PART]])
                yield None
    yield found[::-1] if reverse else found


def _cuts(keys: Sequence[Key]) -> list[Key]:
    """Keys, each once and in order, that divide all into parts of about `_PART`; none where one part is enough."""
    parts = len(keys) // _PART
    drawn = sorted(random.Random(0).choices(keys, k=_SAMPLED * parts)) if parts else []
    return sorted(set(drawn[_SAMPLED // 2 :: _SAMPLED]))


def last_of(steps: Iterator[_Found | None]) -> _Found:
    """The answer of what goes on in steps, all of them done at once."""
    return next(found for found in steps if found is not None)
