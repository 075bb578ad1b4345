"""`filters`: what can be asked of every tensor, by `run -f` and `lt -f`."""

from __future__ import annotations

import argparse
import inspect

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, MEANINGS, TensorFilter, Tuned, checked_inside
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.registry import LIVE, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line, printable


def _filters(context: Context, options: argparse.Namespace) -> Document:
    verb = "lt -f" if context.runs else "run -f"
    pairs = tuple(
        (
            Span(printable(_written(name, found)), Style.KEY, f"{verb} {quoted(name)}"),
            Span(printable(_meaning(name, found))),
        )
        for name, found in context.filters.items()
    )
    lines = [line("A tensor passes that holds or is:"), EMPTY_LINE]
    notes = [EMPTY_LINE, line("N is a number, written behind the colon; without it the one in brackets counts.")]
    if moment_of(context) in LIVE:
        others = [printable(name) for name, found in context.filters.items() if not checked_inside(found)]
        but = f", but for {', '.join(others)}: asking all values of a run costs more" if others else ""
        notes.append(line(f"`run -f` asks inside the run{but}."))
    blocks = (Text(tuple(lines)), Definitions(pairs, indent="  "), Text(tuple(notes)))
    data = [
        {
            "name": name,
            "number": found.number if isinstance(found, Tuned) else None,
            "meaning": _meaning(name, found),
            "built_in": _is_built_in(name, found),
            "checked_inside": checked_inside(found),
        }
        for name, found in context.filters.items()
    ]
    return Document("filters", blocks, lambda: {"filters": data}, "filters")


def _is_built_in(name: str, found: TensorFilter) -> bool:
    return BUILT_IN_FILTERS.get(name) is found


def _written(name: str, found: TensorFilter) -> str:
    return f"{name}[:N]" if isinstance(found, Tuned) else name


def _meaning(name: str, found: TensorFilter) -> str:
    if _is_built_in(name, found):
        return MEANINGS[name] + (f" [{found.number:g}]" if isinstance(found, Tuned) else "")
    words = inspect.getdoc(found) or ""
    return words.split("\n")[0] or "a filter of the program"


COMMAND = Command(
    "filters",
    (),
    "What can be asked of every tensor, by `lt -f` and `run -f`.",
    _filters,
    section="Look",
    details="""\
The program can add its own with `add_tensor_filter`.

Examples:
  lt -f magnitude_above:1e4    what is larger than 10000, either way
  run -f exploding_gradient    run until the L2 norm of a gradient is beyond 1000""",
)
