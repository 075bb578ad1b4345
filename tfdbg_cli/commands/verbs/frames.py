"""`frames`, `up`, `down`, `locals`, `py`, `pdb`: the Python that runs where a program stands, or made the run."""

from __future__ import annotations

import argparse
import codeop
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.commands.asked.current_frame import behind_run, current_frame, current_place, own_places, running_calls
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.printed import printed, reading
from tfdbg_cli.commands.registry import LIVE, Argument, Command, UiAction
from tfdbg_cli.commands.views.traceback_lines import folded_text, traceback_data
from tfdbg_cli.document.document import Document, Text, text_document
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.summary import chip
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, lines_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.frames import Assigned, LiveFrame
from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import is_interruption, is_of_a_statement, our_errors

_SECTION = "Python"
_LONGEST = 100  # characters of a value in a list
_LONGEST_ANSWER = 20_000
_ON_ONE_LINE = (
    "`py` takes one line, as `py for x in (1, 2): print(x)`. `pdb`, and there `interact`, takes more, up to Ctrl-D."
)
_ENDS = "`abort` ends it, `detach` lets it go on by itself."


def _frames(context: Context, options: argparse.Namespace) -> Document:
    frames = running_calls(context)
    current = current_place(context)
    shown: list[Line] = [line(Span(f"The program stands {count_text(len(frames), 'call')} deep.", Style.TITLE))]
    shown += _behind(context)
    folded: list[LiveFrame] = []
    for at, frame in enumerate(frames):
        if is_library(frame.place.file) and at != current and not options.all:
            folded.append(frame)
            continue
        shown += _folded(folded)
        folded = []
        shown += _frame_lines(at, frame, at == current)
    shown += _folded(folded)

    def data() -> Mapping[str, Any]:
        return {"frames": traceback_data(tuple(frame.place for frame in frames)), "current": current}

    return text_document("frames", *shown, data=data(), title="frames")


def _behind(context: Context) -> list[Line]:
    said = behind_run(context)
    return [line(Span(said, Style.HINT))] if said else []


def _folded(frames: Sequence[LiveFrame]) -> list[Line]:
    return (
        [line("    ", Span(folded_text([frame.place for frame in frames]), Style.DIM, "frames -a"))] if frames else []
    )


def _frame_lines(at: int, frame: LiveFrame, current: bool) -> list[Line]:
    place = frame.place
    mark = Span("▸ " if current else "  ", Style.WARNING)
    where = Span(f"{place.file}:{place.line}", Style.NAME, f"locals {at}")
    head = line(mark, Span(f"{at:>2}  ", Style.DIM), where, f" in {place.function}")
    return [head, line("        ", Span(place.text))] if place.text else [head]


def _up(context: Context, options: argparse.Namespace) -> Document:
    return _moved(context, options, -options.count)


def _down(context: Context, options: argparse.Namespace) -> Document:
    return _moved(context, options, options.count)


def _moved(context: Context, options: argparse.Namespace, by: int) -> Document:
    """Go `by` frames of the program further in; those of libraries are passed over."""
    frames, current = running_calls(context), current_place(context)
    own = own_places(frames)
    at = min(range(len(own)), key=lambda i: abs(own[i] - current))
    wanted = at + by
    if not 0 <= wanted < len(own):
        end = "outermost" if by < 0 else "innermost"
        raise TfdbgError(f"This is the {end} call of the program.", hint="`frames -a` lists those of libraries, too.")
    context.frame = own[wanted]
    return _here(context, "up" if by < 0 else "down")


def _locals(context: Context, options: argparse.Namespace) -> Document:
    if options.number is not None:
        frames = running_calls(context)
        if not 0 <= options.number < len(frames):
            raise TfdbgError(f"There is no frame {options.number}.", hint="`frames` lists them with their numbers.")
        context.frame = options.number
    return _here(context, "locals", everything=options.all)


def _here(context: Context, kind: str, *, everything: bool = False) -> Document:
    """The current frame: its line with the source around it, and its names with what they hold."""
    at = current_place(context)
    frame = running_calls(context)[at]
    place = frame.place
    source = context.sources.lines(place.file) or ()
    head = [
        line(Span(f"Frame {at}  ", Style.LABEL), Span(f"{place.file}:{place.line}", Style.NAME),
             f" in {place.function}"),
        *_behind(context),
        *excerpt(source, place.line, around=3),
        EMPTY_LINE,
    ]  # fmt: skip
    names = [name for name in frame.names if everything or not _is_machinery(name, frame.names[name])]
    rows = [(name, frame.names[name]) for name in names]

    def cells(row: int) -> tuple[Span, ...]:
        name, value = rows[row]
        return Span(name, Style.NAME), Span(type(value).__name__, Style.OP), Span(_brief(value))

    table = Table((Column("Name"), Column("Type"), Column("Value")), len(rows), cells)

    def data() -> Mapping[str, Any]:
        values = {name: {"type": type(value).__name__, "value": _brief(value)} for name, value in rows}
        return {"frame": at, **traceback_data((place,))[0], "locals": values}

    return Document("locals", (Text(tuple(head)), table), data, f"{kind} {at}")


def _is_machinery(name: str, value: Any) -> bool:
    """Whether a name is of no interest at a glance: modules, functions, classes, names with underscores."""
    return name.startswith("__") or type(value).__name__ in {
        "module",
        "function",
        "type",
        "builtin_function_or_method",
    }


def _py(context: Context, options: argparse.Namespace) -> Document:
    frame = current_frame(context)
    text = options.expression.strip()
    with printed() as said, reading(sys.stdin):
        try:
            found = frame.evaluate(text)
            value = found.value if isinstance(found, Assigned) else found
            told = "" if value is None else repr(value)
        except our_errors() as error:  # whatever the user's own words raise
            told = f"{said.getvalue()}{type(error).__name__}: {error}"
            hint = _ON_ONE_LINE if isinstance(error, SyntaxError) and _goes_on(text) else behind_run(context)
            raise TfdbgError(f"{told}." if hint and told[-1:].isalnum() else told, hint=hint) from None
        except KeyboardInterrupt as ended:  # of the user's own words; Ctrl-C is for the prompt
            if is_interruption(ended) or not is_of_a_statement(ended):
                raise
            raise TfdbgError(f"{said.getvalue()}KeyboardInterrupt: {ended}".removesuffix(": ")) from None
        except SystemExit as ended:  # of `exit()`, or of the program's own code
            if is_interruption(ended):
                raise
            raise TfdbgError(
                f"{said.getvalue()}`{text}` asks to end the program; it stands as before.", hint=_ENDS
            ) from None
    shown = _assigned_text(frame, found) if isinstance(found, Assigned) and not told else told
    shown = f"{said.getvalue()}{shown}".rstrip("\n")
    if len(shown) > _LONGEST_ANSWER:
        shown = shown[:_LONGEST_ANSWER] + f"… ({len(shown):,} characters)"
    lines = lines_of(shown) if shown else (line(Span("Done; there is nothing to show.", Style.DIM)),)
    return text_document("python", *lines, *_behind(context), data={"value": shown}, title=f"py {text}")


def _goes_on(text: str) -> bool:
    """Whether more lines would make Python of it."""
    try:
        return codeop.compile_command(text, "<tfdbg>", "exec") is None
    except (SyntaxError, ValueError, OverflowError):
        return False


def _assigned_text(frame: LiveFrame, assigned: Assigned) -> str:
    if not assigned.names:
        return ""
    several = len(assigned.names) > 1
    said = f"{' and '.join(assigned.names)} {'are' if several else 'is'} set"
    if frame.is_module:
        return f"{said}."
    own = "their own values" if several else "its own value"
    return f"{said} for what you write here; the function that is running keeps {own}."


def _pdb(context: Context, options: argparse.Namespace) -> UiAction:
    running_calls(context)
    return UiAction.PDB


def _brief(value: Any) -> str:
    """`value` in one line: what an array or tensor holds, and of anything else its beginning as Python shows it."""
    ragged = _ragged_text(value)
    if ragged:
        return ragged
    array = _array_of(value)
    if array is not None:
        return chip(array, name_of(array.dtype)).text
    try:
        text = " ".join(repr(value).split())
    except our_errors() as error:  # it is the program's own
        text = f"repr() raised {type(error).__name__}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _ragged_text(value: Any) -> str:
    """What a RaggedTensor holds: its rows, of which NumPy would make objects, as one; empty of anything else."""
    try:
        if not hasattr(value, "row_splits") or not hasattr(value, "flat_values"):
            return ""
        lengths = ["?" if length is None else str(length) for length in value.shape]
    except our_errors():  # a proxy of nothing
        return ""
    array = _array_of(value.flat_values)
    return "" if array is None else f"ragged [{','.join(lengths)}]: {chip(array, name_of(array.dtype)).text}"


def _array_of(value: Any) -> Array | None:
    """What a tensor, a variable or an array holds; None of anything else."""
    if isinstance(value, np.ndarray):
        return value
    try:
        if not hasattr(value, "dtype") or not hasattr(value, "shape") or not callable(getattr(value, "numpy", None)):
            return None
        return np.asarray(value.numpy())
    except our_errors():  # a handle, a symbolic tensor, one on a device that is gone, a proxy of nothing
        return None


def _commands() -> Iterator[Command]:
    every = Argument(
        ("-a", "--all"), "those of libraries, and modules and functions among the names, too", switch=True
    )
    count = Argument(("count",), "how many calls", type=int, default=1, nargs="?", metavar="N")
    number = Argument(("number",), "of the frame, as `frames` counts", type=int, default=None, nargs="?", metavar="N")
    expression = Argument(("expression",), "Python", nargs="...")
    described = (
        ("frames", ("where", "bt"), "The calls of Python that are running.", _frames, (every,)),
        ("up", (), "Go to the call that made this one.", _up, (count,)),
        ("down", (), "Go back to the call that this one made.", _down, (count,)),
        ("locals", (), "The names of the current call, with what they hold.", _locals, (number, every)),
    )
    for name, aliases, text, invoke, arguments in described:
        yield Command(name, aliases, text, invoke, arguments, LIVE, section=_SECTION)
    yield Command(
        "py",
        (),
        "Python in the current call: an expression is shown, a statement obeyed.",
        _py,
        (expression,),
        LIVE,
        section=_SECTION,
        verbatim=True,
        details="""\
All behind `py` is Python, as it stands there: quotes are its own, and `>` compares. What it prints is shown, too.""",
    )
    yield Command(
        "pdb",
        (),
        "Python's debugger at the current call; what leaves it comes back here.",
        _pdb,
        moments=LIVE,
        section=_SECTION,
        details="""\
It gets the terminal, and has its own commands there: `w`, `up`, `p x`, `interact`. `q`, and what lets a program go on
(`c`, `n`, `s`), comes back to this stop: `step`, `over`, `finish` and `until` go on from here. Names of a function
that are given other values in pdb keep those while it is open only.""",
    )


COMMANDS = tuple(_commands())
