"""Where the program is to stop in code that runs eagerly, as the user names it at a stop."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from tfdbg_cli.analysis.places import PlaceTest, place_of
from tfdbg_cli.commands.asked.current_frame import current_frame
from tfdbg_cli.commands.asked.stopping_line import stopping_line
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.pausing import Place
from tfdbg_cli.model.runs import Opened, Run, RunStart
from tfdbg_cli.model.sources import user_frame
from tfdbg_cli.ops.harmless_ops import HARMLESS

_AS_A_SLIP = 0.65  # how alike two names are of which one is the other with a slip, at least


def stopping_place(context: Context, text: str) -> Place:
    """The place that `text` means at this stop.

    Raises:
        TfdbgError: it means none, or one that the program will not come to, as far as is known here.

    """
    file = ""
    if not isinstance(context.stop, Opened) and context.runs and context.run.frames:
        file = current_frame(context).place.file
    place = place_of(text, file)
    if place.line and not isinstance(context.stop, Opened):
        place = stopping_line(context, place, file)
        if not place.file.startswith("*"):
            _require_eager(context, place)
        return place
    if not place.line:
        if not isinstance(context.stop, Opened) and not place.op.startswith("*"):
            _require_eager(context, place)
        _require_no_slip(context, place)
    return place


def _require_eager(context: Context, place: Place) -> None:
    """Raises TfdbgError where a function or a session runs what is at `place`: nothing pauses inside of those."""
    stop = context.stop
    run = stop if isinstance(stop, RunStart) else context.run
    if (isinstance(run, Run) and run.paused is not None) or run.call.kind is RunKind.EAGER:
        return
    test = PlaceTest(replace(place, condition=""))
    if place.line:
        made = map(user_frame, run.tracebacks.values())
        is_of_run = any(frame is not None and test.fits_line(frame.file, frame.line) for frame in made)
        what = f"What is computed at line {place.line} of {place.file} is a part of this run"
    else:
        is_of_run = any(test.fits_op(node.op_type, node.name) for node in run.graph)
        what = f"{place.op} is an op of this run"
    if is_of_run:
        where = replace(place, condition="")
        raise TfdbgError(
            f"{what}, and a program is paused in code that runs eagerly only.",
            hint=f"`invoke_stepper` goes through the ops of this run; `*{where}` waits for one of eager code.",
        )


def _require_no_slip(context: Context, place: Place) -> None:
    """Raises TfdbgError where a place is called nearly as a type of op is, and as nothing here: it would never come.

    What is called as nothing known may be a layer that has not run yet.
    """
    if not place.op.isalpha():  # a pattern, a scope, or a name with a number
        return
    test = PlaceTest(replace(place, condition=""))
    nodes = context.run.graph if context.runs else ()
    if any(test.fits_op(node.op_type, node.name) for node in nodes) or any(test.fits_op(one, "") for one in HARMLESS):
        return
    op = place.op.lower()
    meant = {one.lower(): one for one in HARMLESS if one[0].lower() == op[0] and abs(len(one) - len(op)) <= 1}
    near = [meant[one] for one in get_close_matches(op, meant, cutoff=_AS_A_SLIP)]
    if near:
        raise TfdbgError(
            f"No type of op is called {place.op}, and no op of this run.",
            hint=f"Did you mean {' or '.join(near)}? `*{place.op}` waits for such a name all the same.",
        )
