"""Sorting very many things in small steps, so that whoever waits for a key is answered meanwhile."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

_Found = TypeVar("_Found")
Key: TypeAlias = tuple[int | str | float | tuple[int, ...], ...]

_RUN = 4096  # things that are sorted in one step
_ASKED = 1024  # things whose key is asked for in one step
_SAMPLED = 16  # things of each run that say where the whole is cut


@dataclass(frozen=True, slots=True)
class _Run:
    """Some of the things, sorted: their keys beside them."""

    keys: Sequence[Key]
    things: Sequence[int]


def sorted_in_steps(
    things: Sequence[int], key: Callable[[int], Key], *, reverse: bool = False
) -> Iterator[Sequence[int] | None]:
    """`things` sorted as `sorted` sorts them: None while it goes on, then the answer.

    They are sorted in short runs, which are then cut at the same keys; what lies between two cuts is sorted alone. So
    no step takes longer the more there are.
    """
    # Reversed before and behind: equal ones keep their order in both directions.
    ahead = things[::-1] if reverse else things
    runs: list[_Run] = []
    for start in range(0, len(ahead), _RUN):
        part, keys = ahead[start : start + _RUN], list[Key]()
        for at in range(0, len(part), _ASKED):
            keys += map(key, part[at : at + _ASKED])
            yield None
        order = sorted(range(len(part)), key=keys.__getitem__)
        runs.append(_Run([keys[at] for at in order], [part[at] for at in order]))
        yield None
    found = array("q")
    for pieces in _cut(runs):
        for part in [piece.things for piece in pieces] if _all_equal(pieces) else [_merged(pieces)]:
            found.extend(part)
            yield None
    yield found[::-1] if reverse else found


def _cut(runs: Sequence[_Run]) -> Iterator[Sequence[_Run]]:
    """The pieces of all runs that lie between two cuts, from the lowest on; those that equal a cut stand alone."""
    sampled = (key for run in runs for key in run.keys[:: max(1, len(run.keys) // _SAMPLED)])
    cuts = sorted(set(sorted(sampled)[_SAMPLED // 2 :: _SAMPLED])) if len(runs) > 1 else []
    starts = [0] * len(runs)
    for cut in cuts:
        for side in (bisect_left, bisect_right):
            ends = [side(run.keys, cut, start) for run, start in zip(runs, starts, strict=True)]
            yield [
                _Run(run.keys[a:b], run.things[a:b]) for run, a, b in zip(runs, starts, ends, strict=True) if b > a
            ]
            starts = ends
    yield [_Run(run.keys[a:], run.things[a:]) for run, a in zip(runs, starts, strict=True) if a < len(run.keys)]


def _all_equal(pieces: Sequence[_Run]) -> bool:
    """Whether the things of sorted pieces, of which none is empty, are in order as they stand."""
    return not pieces or min(piece.keys[0] for piece in pieces) == max(piece.keys[-1] for piece in pieces)


def _merged(pieces: Sequence[_Run]) -> Sequence[int]:
    """The things of sorted pieces in one order."""
    keys = [key for piece in pieces for key in piece.keys]
    things = [thing for piece in pieces for thing in piece.things]
    return [things[at] for at in sorted(range(len(things)), key=keys.__getitem__)]


def last_of(steps: Iterator[_Found | None]) -> _Found:
    """The answer of what goes on in steps, all of them done at once."""
    return next(found for found in steps if found is not None)
