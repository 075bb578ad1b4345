"""`runs`: the runs of a recording."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.opening import opening_command
from tfdbg_cli.commands.registry import Argument, Command, Moment, Outcome, Registry
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, printable
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, RunEnd


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `runs`; to show the run it selects it needs the others in `registry`."""

    def run(context: Context, options: argparse.Namespace) -> Outcome:
        if not options.number:
            return _list(context)
        context.select_run(options.number - 1)
        return execute(opening_command(RunEnd(context.run)), context, registry)

    command = Command(
        "runs",
        (),
        "List the runs of a recording, or look at one.",
        run,
        (Argument(("number",), "the run to look at, from 1", metavar="N", type=int, nargs="?", default=0),),
        moments=frozenset({Moment.OPENED}),
        section="Look",
    )
    return (command,)


def _list(context: Context) -> Document:
    stop = context.stop
    assert isinstance(stop, Opened)

    def row(i: int) -> Row:
        link = f"runs {i + 1}"
        number = Span(str(i + 1), Style.NUMBER, link)
        try:
            run = stop.runs[i]
        except TfdbgError as error:  # deleted meanwhile, or not ours to read
            return (Span(" "), number, Span("?"), Span("unreadable", Style.ERROR), Span(printable(error.message)))
        failed = Span(printable(run.error.type_name), Style.ERROR, link) if run.error else Span("")
        here = Span("●" if i == context.current else " ", Style.GOOD)
        return (
            here,
            number,
            Span(f"{len(run.tensors):,}"),
            failed,
            Span(printable(run.call.title), Style.NAME, link),
        )

    columns = (
        Column("", width=1),
        Column("N", right=True, width=len(str(len(stop.runs)))),
        Column("Tensors", right=True),
        Column("Error"),
        Column("Run"),
    )
    head: list[Line] = [line(count_text(len(stop.runs), "run"), " in ", Span(printable(stop.path), Style.NAME), ":")]
    head += [line(Span(printable(note), Style.WARNING)) for note in stop.notes]
    table = Table(columns, len(stop.runs), row)
    return Document("runs", (Text((*head, EMPTY_LINE)), table), lambda: _data(stop, context.current), "runs")


def _data(stop: Opened, current: int) -> dict[str, object]:
    runs = [{"number": i + 1, **_run_data(stop, i)} for i in range(len(stop.runs))]
    return {"path": stop.path, "current": current + 1, "notes": list(stop.notes), "runs": runs}


def _run_data(stop: Opened, index: int) -> dict[str, object]:
    try:
        run = stop.runs[index]
    except TfdbgError as error:
        return {"title": None, "tensors": None, "error": None, "notes": [error.message]}
    error_type = run.error.type_name if run.error else None
    return {"title": run.call.title, "tensors": len(run.tensors), "error": error_type, "notes": list(run.notes)}
