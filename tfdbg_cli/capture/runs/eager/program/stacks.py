"""The Python calls that led to an op, noted in a microsecond and put into words when somebody looks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, TypeAlias, TypeVar

from tfdbg_cli.capture.tf.callers import frame_at
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.process.own_frames import frame_above, is_ours

_T = TypeVar("_T")

# A flat list [code, offset, code, offset, …], innermost call first; `offset` is that of the instruction that `code`
# executes. Never modified. Equal stacks are mostly the same object, so what is known of one can be kept by its id.
Stack: TypeAlias = list[Any]


def by_identity(function: Callable[[CodeType], _T]) -> Callable[[CodeType], _T]:
    """`function` with its results cached by the id of the code as long as the process lives: hashing code is slow."""
    known: dict[int, tuple[CodeType, _T]] = {}

    def asked(code: CodeType) -> _T:
        found = known.get(id(code))
        if found is None:
            found = known[id(code)] = (code, function(code))
        return found[1]

    return asked


@dataclass(eq=False, slots=True)
class _Met:
    """A stack that was met: `calls` as they were walked, innermost first, then the known stack of their `callers`.

    `followed` are the stacks that came next after it, in any thread, the latest first: guesses for the next op. A
    loop meets the same stacks in every turn, and another one only after its last turn.
    """

    calls: tuple[tuple[CodeType, int], ...]
    callers: Stack
    stack: Stack
    followed: tuple[_Met, ...] = ()


class Under:
    """What a thread knows of its callers: `callers` is the stack above `call`, a call of ours that is under way.

    While `call` lasts its callers cannot move on, so stacks are walked only down to it.
    """

    __slots__ = ("call", "callers", "last")

    def __init__(self) -> None:
        self.call: FrameType | None = None
        self.callers: Stack = _NOBODY  # the stack from the caller of `call` on
        self.last: _Met = _Met((), _NOBODY, _NOBODY)


class _Unders(threading.local):
    def __init__(self) -> None:
        self.here = Under()


_NOBODY: Stack = []
_UNDER = _Unders()
# All stacks that were met, by the offsets in `_Met.calls`.
_MET: dict[tuple[int, ...], list[_Met]] = {}
_MOST_MET, _MOST_ALIKE = 5_000, 50
_MOST_GUESSES = 2


def under_here() -> Under:
    """What is known of the callers of this thread; the same object in all of it."""
    return _UNDER.here


@contextmanager
def callers_known(depth: int) -> Iterator[None]:
    """A context in which the callers of one of our calls, the one `depth` above this one, are walked only once.

    Stacks that are taken in the context end with these callers; our call itself is left out.
    """
    under = _UNDER.here
    before = under.call, under.callers
    callers = stack_here(depth + 4)
    under.call, under.callers = frame_above(depth + 2), callers
    try:
        yield
    finally:
        under.call, under.callers = before


def stack_here(depth: int = 1, under: Under | None = None) -> Stack:
    """The stack of this thread, beginning `depth` calls above this one; equal stacks are mostly the same object.

    `under` is what `under_here` returns in this thread; whoever asks often passes it to save the lookup.
    """
    if under is None:
        under = _UNDER.here
    first: FrameType | None
    try:
        first = frame_above(depth)  # unlike `f_back`, it makes no objects of the frames in between
    except ValueError:  # there are not so many
        first = None
    last = under.last
    for guess in last.followed:
        if guess.callers is under.callers:
            frame: Any = first
            try:
                for code, offset in guess.calls:
                    if frame.f_lasti != offset or frame.f_code is not code:
                        break
                    frame = frame.f_back
                else:
                    if frame is under.call:
                        under.last = guess
                        return guess.stack
            except AttributeError:  # fewer calls than in the guess; asking before each step would take longer
                pass
    under.last = found = _met(first, under)
    last.followed = (found, *last.followed[: _MOST_GUESSES - 1])
    return found.stack


def _met(frame: FrameType | None, under: Under) -> _Met:
    """What is known of the stack from `frame` on."""
    codes: list[CodeType] = []
    offsets: list[int] = []
    while frame is not None and frame is not under.call:
        codes.append(frame.f_code)
        offsets.append(frame.f_lasti)
        frame = frame.f_back
    callers = _NOBODY if frame is None else under.callers
    calls = tuple(zip(codes, offsets, strict=True))
    place = tuple(offsets)
    alike = _MET.get(place, ())
    for known in alike:
        if known.callers is callers and known.calls == calls:
            return known
    stack: Stack = [part for call in calls for part in call]
    found = _Met(calls, callers, stack + callers)
    if len(_MET) > _MOST_MET or len(alike) > _MOST_ALIKE:
        _MET.clear()
    _MET.setdefault(place, []).append(found)
    return found


def is_under(code: CodeType) -> bool:
    """Whether a call of `code` is among those that led to the caller; takes a fraction of what `stack_here` does."""
    frame: FrameType | None = frame_above(1)
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def calls(stack: Stack) -> Iterator[tuple[CodeType, int]]:
    """Code and offsets, outermost call first."""
    return zip(reversed(stack[::2]), reversed(stack[1::2]), strict=True)


@lru_cache(maxsize=10_000)
def line_at(code: CodeType, offset: int) -> int:
    """The line of the instruction at `offset`; that of the code's beginning where Python notes none."""
    noted = noted_line_at(code, offset)
    return code.co_firstlineno if noted is None else noted


def noted_line_at(code: CodeType, offset: int) -> int | None:
    """The line of the instruction at `offset`; None where Python notes none, as for jumps that no statement is."""
    return next((line for start, end, line in code.co_lines() if start <= offset < end), None)


def traceback_of(stack: Stack) -> Traceback:
    """The calls of `stack` in words, without ours."""
    others = ((code, offset) for code, offset in calls(stack) if not is_ours(code.co_filename))
    return tuple(frame_at(code, line_at(code, offset)) for code, offset in others)


class EagerTracebacks(Mapping[str, Traceback]):
    """Stacks by node name, put into words when asked for. Of a node in a function: where it was made."""

    def __init__(
        self, stacks: Mapping[str, Stack], places: Mapping[str, tuple[Mapping[str, Traceback], str]] | None = None
    ) -> None:
        """`places` has, for nodes in functions, the tracebacks of the function and the name of the node there."""
        self._stacks = stacks
        self._places = places or {}

    def is_alike(self, other: EagerTracebacks) -> bool:
        """Whether both tell the same of the same nodes; nothing is put into words for it."""
        same = self._stacks == other._stacks and self._places.keys() == other._places.keys()
        return same and all(self._places[name][0] is other._places[name][0] for name in self._places)

    def __getitem__(self, name: str) -> Traceback:
        tracebacks, node = self._places.get(name, ({}, ""))
        return tracebacks[node] if node in tracebacks else traceback_of(self._stacks[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stacks)

    def __len__(self) -> int:
        return len(self._stacks)
