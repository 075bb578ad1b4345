"""`filters`: what can be asked of every tensor, by `run -f` and `lt -f`."""

from __future__ import annotations

import argparse
import inspect

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, checked_inside, our_filter
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import LIVE, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line


def _filters(context: Context, options: argparse.Namespace) -> Document:
    verb = "lt -f" if context.runs else "run -f"
    left = _ROWS.left(options.query, list(context.filters.items()), COMMAND.spell(options, query=""))
    pairs = tuple(
        (
            Span(_written(name, found), Style.KEY, f"{verb} {quoted(name)}"),
            Span(_meaning(name, found)),
        )
        for name, found in left.rows
    )
    lines = [line("A tensor passes that holds or is:"), *left.head, EMPTY_LINE]
    notes = [EMPTY_LINE, line("N is a number, written behind the colon; without it the one in brackets counts.")]
    if moment_of(context) in LIVE:
        others = [name for name, found in left.rows if not checked_inside(found)]
        but = f", but for {', '.join(others)}: asking all values of a run costs more" if others else ""
        notes.append(line(f"`run -f` asks inside the run{but}."))
    blocks = (Text(tuple(lines)), Definitions(pairs, indent="  "), Text(tuple(notes)))
    data = [
        {
            "name": name,
            "number": _parameter(found),
            "meaning": _meaning(name, found),
            "built_in": _is_built_in(name, found),
            "checked_inside": checked_inside(found),
        }
        for name, found in left.rows
    ]
    return Document("filters", blocks, lambda: {"filters": data, **left.data}, left.title("filters"))


def _is_built_in(name: str, found: TensorFilter) -> bool:
    ours = our_filter(found)
    return ours is not None and BUILT_IN_FILTERS.get(name) is ours


def _parameter(found: TensorFilter) -> float | None:
    ours = our_filter(found)
    return None if ours is None else ours.parameter


def _written(name: str, found: TensorFilter) -> str:
    return name if _parameter(found) is None else f"{name}[:N]"


def _meaning(name: str, found: TensorFilter) -> str:
    if _is_built_in(name, found):
        parameter = _parameter(found)
        return BUILT_IN_FILTERS[name].meaning + ("" if parameter is None else f" [{parameter:g}]")
    words = inspect.getdoc(found) or ""
    return words.split("\n")[0] or "a filter of the program"


_ROWS = PlainRows[tuple[str, TensorFilter]](
    "a filter", lambda row: f"{row[0]} {_meaning(*row)}", {"name": lambda row: row[0]}
)
COMMAND = Command(
    "filters",
    (),
    "What can be asked of every tensor, by `lt -f` and `run -f`.",
    _filters,
    (QUERY_ARGUMENT,),
    section="Look",
    details="""\
The program can add its own with `add_tensor_filter`. Words of a query search in names and meanings.

Examples:
  lt -f magnitude_above:1e4    what is larger than 10000, either way
  run -f exploding_gradient    run until the L2 norm of a gradient is beyond 1000""",
)
