"""Where the program is to stop in code that runs eagerly, as the user names it at a stop."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from tfdbg_cli.analysis.places import PlaceTest, place_of
from tfdbg_cli.commands.asked.current_frame import current_frame
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.pausing import Place
from tfdbg_cli.model.runs import Opened, RunEnd
from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.units import count_text
from tfdbg_cli.ops.harmless_ops import HARMLESS
from tfdbg_cli.process.module_files import modules_with_files

_AS_A_SLIP = 0.65  # how alike two names are of which one is the other with a slip, at least
_AS_A_SLIP_IN_FILES = 0.7
_NUMBER = re.compile(r"\d+")


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
        _require_line(context, place)
    elif not place.line:
        if not isinstance(context.stop, Opened) and not place.op.startswith("*"):
            _require_eager(context, place)
        _require_no_slip(context, place)
    return place


def _require_eager(context: Context, place: Place) -> None:
    """Raises TfdbgError where a function or a session ran the op at `place`: nothing pauses inside of those."""
    if not context.runs or context.run.paused is not None or context.run.call.kind is RunKind.EAGER:
        return
    test = PlaceTest(replace(place, condition=""))
    if any(test.fits_op(node.op_type, node.name) for node in context.run.graph):
        raise TfdbgError(
            f"{place.op} is an op of this run, and a program is paused in code that runs eagerly only.",
            hint=f"`invoke_stepper` goes through the ops of this run; `*{place.op}` waits for one of eager code.",
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


def _require_line(context: Context, place: Place) -> None:
    """Raises TfdbgError where no file that `place` may mean has such a line, or its name is that of one with a slip.

    A file that is not known yet may be one that the program loads later.
    """
    known = _files(context)
    wanted = Path(place.file).parts
    meant = [file for file in known if Path(file).parts[-len(wanted) :] == wanted]
    if not meant:
        _require_no_slip_in_file(place, [file for file in known if not is_library(file)])
        return
    own = [file for file in meant if not is_library(file)]
    lengths = [len(context.sources.lines(file) or ()) for file in own or meant]
    if all(0 < length < place.line for length in lengths):
        only = f"{place.file} has {count_text(max(lengths), 'line')}."
        raise TfdbgError(only, hint=f"There is no line {place.line}.")


def _files(context: Context) -> set[str]:
    """The source files that are known at this stop: those in tracebacks, and of the modules that are loaded."""
    files = {frame.place.file for frame in context.run.frames} if context.runs else set()
    files |= {frame.file for traceback in context.tracebacks.values() for frame in traceback}
    is_elsewhere = isinstance(context.stop, RunEnd) and context.stop.sent
    loaded = () if is_elsewhere else (file for file, _ in modules_with_files())
    return files | {file for file in loaded if file.endswith(".py") and not is_library(file)}


def _require_no_slip_in_file(place: Place, known: Sequence[str]) -> None:
    """Raises TfdbgError where nothing is called as the file of `place`, and one of the `known` files nearly so."""
    wanted = Path(place.file).parts
    folders = {*sys.path, ".", *(str(Path(file).parent) for file in known)}
    if "*" in place.file or any(map(os.path.exists, (Path(folder, place.file) for folder in folders))):
        return
    tails = {Path(file).parts[-len(wanted) :] for file in known}
    near = sorted(str(Path(*tail)) for tail in tails if _are_alike(tail, wanted))
    if near:
        meant = " or ".join(f"{file}:{place.line}" for file in near)
        raise TfdbgError(
            f"No file called {place.file} is known here.",
            hint=f"Did you mean {meant}? `*{Path(place.file).name}:{place.line}` waits for such a file all the same.",
        )


def _are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether these parts of paths are the same with slips. Files that have another number are not."""
    if len(one) != len(other):
        return False
    for first, second in ((Path(a).stem, Path(b).stem) for a, b in zip(one, other, strict=True) if a != b):
        if abs(len(first) - len(second)) > 1 or _NUMBER.sub("", first) == _NUMBER.sub("", second):
            return False
        if SequenceMatcher(None, first.lower(), second.lower()).ratio() < _AS_A_SLIP_IN_FILES:
            return False
    return True
