"""Python's own debugger at a call of the program that is running: `pdb` looks around, and comes back to the stop."""

from __future__ import annotations

import inspect
import pdb
from collections.abc import Sequence
from types import FrameType
from typing import TextIO

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame

_GREETING = "pdb at the program's own call; q comes back to tfdbg, and nothing runs on before that.\n"


def open_pdb(frames: Sequence[LiveFrame], at: int, given: TextIO, shown: TextIO) -> None:
    """Talk as pdb does at the call `at` of `frames`, which run in this thread, until the person leaves it.

    The program goes on as tfdbg is told at the stop: stepping in pdb leads back there.

    Raises:
        TfdbgError: the call does not run in this thread.

    """
    frame = _running(frames[: at + 1])
    if frame is None:
        raise TfdbgError("The call of the program is not one of this thread.", hint="`py` takes Python at any stop.")
    shown.write(_GREETING)
    debugger = pdb.Pdb(stdin=given, stdout=shown, nosigint=True)
    debugger.reset()
    debugger.interaction(frame, None)
    shown.flush()


def _running(frames: Sequence[LiveFrame]) -> FrameType | None:
    """The frame of the last of `frames`, which were noted outermost first, without ours."""
    found: list[FrameType] = []
    frame = inspect.currentframe()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    wanted = [(one.place.file, one.place.line, one.place.function) for one in frames]
    met = 0
    for frame in reversed(found):
        if (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) == wanted[met]:
            met += 1
            if met == len(wanted):
                return frame
    return None
