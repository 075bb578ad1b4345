"""The Python calls that led to an op, noted in a microsecond and put into words when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, TypeAlias, TypeVar

from tfdbg_cli.capture.tf.callers import frame_at
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.own_frames import frame_above, is_own

_T = TypeVar("_T")

# Code and the offset in it of the instruction that is being executed, in turn, innermost call first. Never changed.
Stack: TypeAlias = list[Any]


def by_identity(function: Callable[[CodeType], _T]) -> Callable[[CodeType], _T]:
    """`function` with its answers kept for as long as the process lives: to hash code takes longer than to ask."""
    known: dict[int, tuple[CodeType, _T]] = {}

    def asked(code: CodeType) -> _T:
        found = known.get(id(code))
        if found is None:
            found = known[id(code)] = (code, function(code))
        return found[1]

    return asked


# Stacks that were met, by their offsets, each with its calls: a loop comes by the same ones in every turn.
_MET: dict[tuple[int, ...], list[tuple[list[CodeType], Stack]]] = {}
_MOST_MET, _MOST_ALIKE = 5_000, 50


def stack_here(depth: int = 1) -> Stack:
    """The stack of this thread, from `depth` calls above this one on; mostly the same object where it is the same."""
    codes: list[CodeType] = []
    offsets: list[int] = []
    frame: FrameType | None
    try:
        frame = frame_above(depth)  # those between need not be made objects, as each `f_back` would do
    except ValueError:  # there are not so many
        frame = None
    while frame is not None:
        codes.append(frame.f_code)
        offsets.append(frame.f_lasti)
        frame = frame.f_back
    place = tuple(offsets)
    alike = _MET.get(place, ())
    for known, stack in alike:
        if known == codes:
            return stack
    found: Stack = [part for call in zip(codes, offsets, strict=True) for part in call]
    if len(_MET) > _MOST_MET or len(alike) > _MOST_ALIKE:
        _MET.clear()
    _MET.setdefault(place, []).append((codes, found))
    return found


def is_under(code: CodeType) -> bool:
    """Whether a call of `code` is among those that led to the caller; takes a fraction of what `stack_here` does."""
    frame: FrameType | None = frame_above(1)
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def stack_of(error: BaseException) -> Stack:
    """The calls from which `error` came."""
    found: Stack = []
    trace = error.__traceback__
    while trace is not None:
        found[:0] = trace.tb_frame.f_code, trace.tb_lasti
        trace = trace.tb_next
    return found


def calls(stack: Stack) -> Iterator[tuple[CodeType, int]]:
    """Code and offsets, outermost call first."""
    return zip(reversed(stack[::2]), reversed(stack[1::2]), strict=True)


@lru_cache(maxsize=10_000)
def line_at(code: CodeType, offset: int) -> int:
    """The line of the instruction at `offset`; that of the code's beginning where Python notes none."""
    return next(
        (line for start, end, line in code.co_lines() if start <= offset < end and line is not None),
        code.co_firstlineno,
    )


def traceback_of(stack: Stack) -> Traceback:
    """The calls of `stack` in words, without ours."""
    own = ((code, offset) for code, offset in calls(stack) if not is_own(code.co_filename))
    return tuple(frame_at(code, line_at(code, offset)) for code, offset in own)


class Tracebacks(Mapping[str, Traceback]):
    """Stacks by node name, put into words when asked for. Of a node in a function: where it was made."""

    def __init__(
        self, stacks: Mapping[str, Stack], places: Mapping[str, tuple[Mapping[str, Traceback], str]] | None = None
    ) -> None:
        """`places` are nodes in functions: the tracebacks of that function, and the name that a node has there."""
        self._stacks = stacks
        self._places = places or {}

    def __getitem__(self, name: str) -> Traceback:
        tracebacks, node = self._places.get(name, ({}, ""))
        return tracebacks[node] if node in tracebacks else traceback_of(self._stacks[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stacks)

    def __len__(self) -> int:
        return len(self._stacks)
