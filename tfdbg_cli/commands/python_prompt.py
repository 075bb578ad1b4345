"""Python's own debugger at a call of the program that is running: `pdb` looks around, and comes back to the stop."""

from __future__ import annotations

import inspect
import pdb
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from types import FrameType
from typing import TextIO

from tfdbg_cli.commands.printed import reading
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame

_GREETING = "pdb at the program's own call; q comes back to tfdbg, and nothing runs on before that.\n"


def open_pdb(frames: Sequence[LiveFrame], at: int, given: TextIO, shown: TextIO) -> None:
    """Run pdb's prompt at the call `frames[at]`, which has to run in this thread, until the user leaves it.

    It is for inspection only: stepping commands of pdb just lead back to the stop, which decides how to go on.

    Raises:
        TfdbgError: the call does not run in this thread.

    """
    frame = _running(frames[: at + 1])
    if frame is None:
        raise TfdbgError("The call of the program is not one of this thread.", hint="`py` takes Python at any stop.")
    shown.write(_GREETING)
    debugger = _Debugger(stdin=given, stdout=shown, nosigint=True)
    debugger.reset()
    debugger.interaction(frame, None)
    shown.flush()


class _Debugger(pdb.Pdb):
    """pdb whose `interact` talks where pdb itself does: Python's console takes the streams of the process."""

    def do_interact(self, arg: str) -> bool | None:
        try:
            with reading(self.stdin), redirect_stdout(self.stdout), redirect_stderr(self.stdout):
                return super().do_interact(arg)
        except SystemExit:  # `exit()` leaves the console, and not the program
            return None


def _running(frames: Sequence[LiveFrame]) -> FrameType | None:
    """The frame of the last of `frames` (outermost first, none of ours) on this thread's stack; None if not there."""
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
