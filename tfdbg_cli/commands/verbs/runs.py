"""`runs`: the runs of a recording, or those kept before a stop."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, Registry
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunStart


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `runs`; to show the run it selects it needs the others in `registry`."""

    def run(context: Context, options: argparse.Namespace) -> Outcome:
        if not options.number:
            return _list(context, options.query)
        if options.query:
            raise TfdbgError("-q narrows the list; one run is none.", hint="Write: runs -q QUERY")
        context.select_run(options.number - 1)
        return execute(opening_command(RunEnd(context.run)), context, registry)

    command = Command(
        "runs",
        (),
        "List the runs of a recording, or those kept before this stop, or look at one.",
        run,
        (
            Argument(("number",), "the run to look at, from 1", metavar="N", type=int, nargs="?", default=0),
            QUERY_ARGUMENT,
        ),
        moments=WITH_TENSORS,
        section="Look",
        details="""\
After `run -f FILTER --keep N` these are the N runs before the hit and the hit itself. `older` and `newer` step from
one to the next; every list and value is then that of the run looked at. A query asks a run for its name, its number
(`run`) and its `tensors`.

Examples:
  runs 3
  runs -q 'step tensors>100'""",
    )
    return (command,)


def _list(context: Context, query: str) -> Document:
    runs = context.runs
    of_graphs = isinstance(context.stop, Opened) and context.stop.noun != "run"
    left = _left(context, query)
    places = left.rows

    def row(at: int) -> Row:
        i = places[at]
        link = f"runs {i + 1}"
        number = Span(str(i + 1), Style.NUMBER, link)
        try:
            run = runs[i]
        except TfdbgError as error:  # deleted meanwhile, or not ours to read
            return (Span(" "), number, Span("?"), Span("unreadable", Style.ERROR), Span(error.message))
        here = Span("●" if i == context.current else " ", Style.GOOD)
        return (
            here,
            number,
            Span(f"{len(run.graph) if of_graphs else len(run.tensors):,}"),
            _end(context, run, link),
            Span(_title(run), Style.NAME, link),
        )

    columns = (
        Column("", width=1),
        Column("N", right=True, width=len(str(len(runs)))),
        Column("Nodes" if of_graphs else "Tensors", right=True),
        Column("Error" if isinstance(context.stop, Opened) else "End", drop=1 if of_graphs else 0),
        Column("Graph" if of_graphs else "Run"),
    )
    table = Table(columns, len(places), row)
    head = [*_head(context), *left.head, EMPTY_LINE]
    blocks = (Text(tuple(head)), table) if places else (Text(tuple(head)),)
    return Document("runs", blocks, lambda: {**_data(context, places), **left.data}, left.title("runs"))


def _left(context: Context, query: str) -> Left[int]:
    """The places of the runs that `query` admits; one that cannot be read has no facts, and is not admitted."""
    runs = context.runs
    if not query:
        return Left(range(len(runs)), len(runs), query, "runs")
    readable = []
    for i in range(len(runs)):
        with suppress(TfdbgError):
            runs[i]
            readable.append(i)
    rows = PlainRows[int](
        "a run",
        lambda i: _title(runs[i]),
        {},
        {"run": lambda i: runs[i].call.number, "tensors": lambda i: len(runs[i].tensors)},
    )
    return replace(rows.left(query, readable, "runs"), total=len(runs))


def _title(run: Run) -> str:
    return run.change.title if run.change else run.call.title


def _head(context: Context) -> list[Line]:
    stop = context.stop
    count = count_text(len(context.runs), stop.noun if isinstance(stop, Opened) else "run")
    if isinstance(stop, Opened):
        first = line(count, " in ", Span(stop.path, Style.NAME), ":")
    elif len(context.runs) == 1:
        first = line("1 run: no other was kept (", Span("run -f FILTER --keep N", Style.KEY), " keeps them).")
    else:
        first = line(count, ", the oldest first:")
    notes = () if isinstance(stop, RunStart) else stop.notes
    return [first, *(line(Span(note, Style.WARNING)) for note in notes)]


def _end(context: Context, run: Run, link: str) -> Span:
    """How `run` ended, if in a way worth a word."""
    if run.error is not None:
        return Span(run.error.type_name, Style.ERROR, link)
    if run.cut_off:
        return Span("cut off", Style.WARNING, link)
    stop = context.stop
    if isinstance(stop, RunEnd) and stop.hit is not None and run is stop.run:
        return Span(f"passed {stop.hit.filter_name}", Style.WARNING, link)
    return Span("")


def _data(context: Context, places: Sequence[int]) -> dict[str, object]:
    stop, runs = context.stop, context.runs
    path = stop.path if isinstance(stop, Opened) else None
    notes = [] if isinstance(stop, RunStart) else list(stop.notes)
    rows = [{"number": i + 1, **_run_data(runs, i)} for i in places]
    return {"path": path, "current": context.current + 1, "notes": notes, "runs": rows}


def _run_data(runs: Sequence[Run], index: int) -> dict[str, object]:
    try:
        run = runs[index]
    except TfdbgError as error:
        return {
            "title": None,
            "run": None,
            "tensors": None,
            "nodes": None,
            "error": None,
            "cut_off": False,
            "notes": [error.message],
        }
    return {
        "title": run.call.title,
        "run": run.call.number,
        "tensors": len(run.tensors),
        "nodes": len(run.graph),
        "error": run.error.type_name if run.error else None,
        "cut_off": run.cut_off,
        "notes": list(run.notes),
    }
