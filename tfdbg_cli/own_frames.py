"""Leaving our own calls out of the tracebacks that a program's user sees."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

_PACKAGE = str(Path(__file__).parent) + os.sep
_EXAMPLES = str(Path(__file__).parent / "examples") + os.sep  # programs, not machinery
_starters: set[str] = set()

frame_above: Callable[[int], FrameType] = sys._getframe
"""The frame so many calls above the one that asks (0); ValueError where there are fewer."""


@cache
def is_own(file: str) -> bool:
    """Whether code of `file` is this package's; its examples are programs."""
    return file.startswith(_PACKAGE) and not file.startswith(_EXAMPLES)


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """`trace` less the calls that went through this package."""
    frames: list[TracebackType] = []
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            frames.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for frame in reversed(frames):
        rest = TracebackType(rest, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return rest


def leave_out_our_frames(error: BaseException) -> None:
    """Take our own calls out of the traceback of `error`, and of those that it came from, as Python shows them."""
    met: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in met:
        met.add(id(at))
        at.__traceback__ = without_our_frames(at.__traceback__)
        at = at.__cause__ or at.__context__


class _WithoutOurFrames:
    """A context: an exception that leaves it goes on without our calls, that of the function around it among them.

    Python puts no call into a traceback a second time when an exception goes on through it. So a program that
    catches the exception behind the outermost such context sees none of ours.
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
    """Count code of `files` to ours: it called this package before the program began."""
    _starters.update(files)


def our_files() -> frozenset[str]:
    """The names of the files of code that calls a program, or is called by it on the way to TensorFlow."""
    return _package_files() | _starters


@cache
def _package_files() -> frozenset[str]:
    return frozenset(filter(is_own, map(str, Path(_PACKAGE).rglob("*.py"))))
