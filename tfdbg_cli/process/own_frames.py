"""Leaving our own calls out of the tracebacks that a program's user sees."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_EXAMPLES = str(Path(__file__).parents[1] / "examples") + os.sep  # programs, not machinery
_NO_LINE = -1
_starters: set[str] = set()

frame_above: Callable[[int], FrameType] = sys._getframe
"""The frame N calls above the caller's own (0); raises ValueError if the stack is not that deep."""


@cache
def is_own(file: str) -> bool:
    """Whether code of `file` is this package's; its examples are programs."""
    return file.startswith(_PACKAGE) and not file.startswith(_EXAMPLES)


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """A copy of `trace` without the frames of this package; None if nothing else is left."""
    frames: list[TracebackType] = []
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            frames.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for frame in reversed(frames):
        # Python knows no line for some moments, such as the first of a call: it would look again, in vain.
        line = _NO_LINE if frame.tb_lineno is None else frame.tb_lineno
        rest = TracebackType(rest, frame.tb_frame, frame.tb_lasti, line)
    return rest


def leave_out_our_frames(error: BaseException) -> None:
    """Remove our own frames from the traceback of `error` and of every exception in its chain (cause or context)."""
    met: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in met:
        met.add(id(at))
        at.__traceback__ = without_our_frames(at.__traceback__)
        at = at.__cause__ or at.__context__


class _WithoutOurFrames:
    """A context that removes our frames, including the one that entered it, from any exception that leaves it.

    When `__exit__` returns, Python does not add the current frame to the traceback again. So a program that catches
    the exception outside the outermost such context sees no frame of ours.
    """

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            leave_out_our_frames(error)


WITHOUT_OUR_FRAMES = _WithoutOurFrames()


def started_by(files: Iterable[str]) -> None:
    """Treat `files` as ours in `is_ours`: they belong to whoever started tfdbg, before the program began."""
    _starters.update(files)


def is_ours(file: str) -> bool:
    """Whether code of `file` is this package's, or was noted by `started_by`: the same as to be in `our_files`."""
    return file in _starters or is_own(file)


def our_files() -> frozenset[str]:
    """The names of all source files of this package, examples excluded, and of those noted by `started_by`."""
    return _package_files() | _starters


@cache
def _package_files() -> frozenset[str]:
    return frozenset(filter(is_own, map(str, Path(_PACKAGE).rglob("*.py"))))
