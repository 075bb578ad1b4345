"""The calls of Python that are running where a program stands, and which one of them a user looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import Opened, RunEnd, RunStart
from tfdbg_cli.model.sources import is_library


def running_calls(context: Context) -> Sequence[LiveFrame]:
    """The calls that are running: of a run that the program stands in, else those that made the run of this stop.

    Raises:
        TfdbgError: there are none.

    """
    stop = context.stop
    if isinstance(stop, Opened):
        raise TfdbgError("No Python of the program is at hand here: nothing of it is running any more.")
    frames = stop.frames if isinstance(stop, RunStart) else stop.run.frames or stop.frames
    if not frames:
        raise TfdbgError("No Python of the program is at hand here: no call of it made this run.")
    return frames


def behind_run(context: Context) -> str:
    """A sentence for calls that did not make the run of this stop: one of eager code ends where the next begins."""
    stop = context.stop
    if not isinstance(stop, RunEnd) or stop.run.frames or stop.run.error is not None or not stop.run.call.loop:
        return ""
    what = stop.run.call.what
    return f"{what[:1].upper()}{what[1:]} is over: this is what the program does next."


def asks_python(context: Context) -> bool:
    """Whether there are calls of the program to look at."""
    stop = context.stop
    return not isinstance(stop, Opened) and bool(stop.frames or (isinstance(stop, RunEnd) and stop.run.frames))


def own_places(frames: Sequence[LiveFrame]) -> list[int]:
    """The places of the program's own calls among `frames`; all where it has none."""
    return [at for at, frame in enumerate(frames) if not is_library(frame.place.file)] or list(range(len(frames)))


def current_place(context: Context) -> int:
    """The place of the call that was chosen; that of the innermost one of the program at first."""
    if context.frame is None:
        context.frame = own_places(running_calls(context))[-1]
    return context.frame


def current_frame(context: Context) -> LiveFrame:
    """The call of Python that is looked at.

    Raises:
        TfdbgError: there is none.

    """
    return running_calls(context)[current_place(context)]


def talk_as_pdb(context: Context, given: TextIO, shown: TextIO) -> None:
    """Let pdb talk, by `given` and `shown`, at the call that is looked at; see `python_prompt.open_pdb`."""
    from tfdbg_cli.commands.python_prompt import open_pdb

    open_pdb(running_calls(context), current_place(context), given, shown)
