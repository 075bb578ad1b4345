"""Graphs walked: all that some nodes lead to, each told once, so that every walk ends, in circles too."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], further: Callable[[T], Iterable[T]], *, most: int | None = None) -> Iterator[T]:
    """`starts` and all that they lead to along `further`, each once, in no order that means something.

    Args:
        starts: where the walk begins; they are told, too.
        further: what one leads to. It is asked after that one was told, when the next is wanted.
        most: how many are told at most; None for all.

    """
    return islice(_reached(starts, further), most)


def _reached(starts: Iterable[T], further: Callable[[T], Iterable[T]]) -> Iterator[T]:
    waiting = list(dict.fromkeys(starts))
    met = set(waiting)
    while waiting:
        one = waiting.pop()
        yield one
        for other in further(one):
            if other not in met:
                met.add(other)
                waiting.append(other)


def depth_first(starts: Iterable[T], further: Callable[[T], Iterable[T]], *, most: int | None = None) -> Iterator[T]:
    """As `reached`, in an order that can be told: the last of `starts` first, and first all that it leads to.

    Of what one leads to, too, the last comes first, with all that it leads to and that was not told yet.
    """
    return islice(_depth_first(starts, further), most)


def _depth_first(starts: Iterable[T], further: Callable[[T], Iterable[T]]) -> Iterator[T]:
    waiting = list(starts)
    met: set[T] = set()
    while waiting:
        one = waiting.pop()
        if one not in met:
            met.add(one)
            yield one
            waiting.extend(further(one))


def nearest_first(
    starts: Iterable[T], further: Callable[[T], Iterable[T]], *, most: int | None = None
) -> Iterator[tuple[T, int]]:
    """As `reached`, each with how many steps it is from the nearest of `starts` (0: one of them), nearest first."""
    return islice(_nearest_first(starts, further), most)


def _nearest_first(starts: Iterable[T], further: Callable[[T], Iterable[T]]) -> Iterator[tuple[T, int]]:
    waiting = deque((start, 0) for start in dict.fromkeys(starts))
    met = {start for start, _ in waiting}
    while waiting:
        one, far = waiting.popleft()
        yield one, far
        for other in further(one):
            if other not in met:
                met.add(other)
                waiting.append((other, far + 1))


def needs_first(starts: Iterable[T], needs: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """`starts` and all that they need, each once, after what it needs; of a circle one comes before what it needs.

    Where that leaves a choice, they come in the order of `starts`, and of `needs`.
    """
    met: set[T] = set()
    for start in starts:
        if start in met:
            continue
        met.add(start)
        open_ = [(start, iter(needs(start)))]
        while open_:
            one, rest = open_[-1]
            for need in rest:
                if need not in met:
                    met.add(need)
                    open_.append((need, iter(needs(need))))
                    break
            else:
                yield one
                open_.pop()
