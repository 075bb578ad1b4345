"""`timeline`: what the program executed, one thing after the other: calls of functions, and eager ops."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tfdbg_cli.analysis.choosing.known_figures import ANY_COUNT, Known, added, known_figure
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command
from tfdbg_cli.commands.views.links import source_link
from tfdbg_cli.commands.views.made_at import lines_lost
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.timeline import Execution, TellsExecutions
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import LOST, NoValue

_PAGE = 200


def _timeline(context: Context, options: argparse.Namespace) -> Document:
    executions = _executions(context)
    if options.begin < 1 or options.count < 1:
        raise TfdbgError("Executions are counted from 1.", hint="Write: timeline 201 -n 100")
    left = _left(context, options, executions)
    begin = min(options.begin - 1, max(0, len(left.rows) - 1))
    places = left.rows[begin : begin + options.count]
    start = executions[0].time_us if len(executions) else None
    blocks: list[Block] = [
        Text(
            (
                *_head(context, options, executions, len(left.rows), begin, len(places)),
                *_lines_lost(context, [executions[at] for at in places]),
                *left.head,
                EMPTY_LINE,
            )
        )
    ]
    if places:
        columns = _shown_columns(context, timed=start is not None)

        def row(at: int) -> Row:
            cells = _row(context, executions[places[at]], places[at], start)
            return tuple(cells[column] for column in columns)

        blocks.append(Table(tuple(_COLUMNS[column] for column in columns), len(places), row))
    return Document(
        "timeline",
        tuple(blocks),
        lambda: {
            "total": len(executions),
            "begin": begin + 1,
            "executions": [_data(context, executions[at], at) for at in places],
            **left.data,
        },
        left.title("timeline"),
    )


def _left(context: Context, options: argparse.Namespace, executions: Sequence[Execution]) -> Left[int]:
    """The places of the executions that the query admits, whichever page is on show."""

    def bad(at: int) -> Known:
        if not _tells_executions(context):
            raise TfdbgError(
                "Of this recording the timeline does not know what runs hold.",
                hint="`alerts` looks through all of them for NaN and infinities.",
            )
        return _bad(context.runs[executions[at].run], executions[at])

    rows = PlainRows[int](
        "an execution",
        lambda at: f"{executions[at].op_type} {executions[at].node}".rstrip(),
        {"op": lambda at: executions[at].op_type, "name": lambda at: executions[at].node or executions[at].op_type},
        {"run": lambda at: executions[at].number, "tensors": lambda at: executions[at].outputs},
        {"bad": bad},
    )
    return rows.left(options.query, range(len(executions)), COMMAND.spell(options, query=""))


_COLUMNS = (
    Column("N", right=True),
    Column("t (ms)", right=True, drop=3),
    Column("Run", right=True),
    Column("Holds", drop=4),
    Column("Line", drop=2),
    Column("Executed"),
)


def _shown_columns(context: Context, *, timed: bool) -> list[int]:
    """The columns of which something is known in this recording."""
    told = _tells_executions(context)
    known = {"t (ms)": timed, "Holds": told, "Line": told}
    return [at for at, column in enumerate(_COLUMNS) if known.get(column.title, True)]


def _tells_executions(context: Context) -> bool:
    """Whether the recording tells of each execution what it gave, and where it was made."""
    return isinstance(context.stop, Opened) and isinstance(context.stop.runs, TellsExecutions)


def _executions(context: Context) -> Sequence[Execution]:
    runs = context.stop.runs if isinstance(context.stop, Opened) else ()
    if isinstance(runs, TellsExecutions):
        return runs.executions
    whole = ((at, context.runs[at]) for at in range(len(context.runs)))
    return [_whole(run, at) for at, run in whole if not run.what_if_title]  # else the program did not make it


def _in_order_of_time(context: Context, executions: Sequence[Execution]) -> bool:
    """Whether `executions` stand so as a whole: several programs may stand one behind the other."""
    runs = context.stop.runs if isinstance(context.stop, Opened) else ()
    if isinstance(runs, TellsExecutions):
        return runs.in_order_of_time
    times = [one.time_us for one in executions if one.time_us is not None]
    return all(before <= after for before, after in pairwise(times))


def _whole(run: Run, at: int) -> Execution:
    """A run as one execution: nothing finer is known of recordings of other kinds."""
    time = run.tensors[len(run.tensors) - 1].time_us if len(run.tensors) else None
    is_call = run.call.kind is not RunKind.EAGER
    title = run.call.function or run.call.kind
    return Execution(at, run.call.number, "", title, time, len(run.call.fetches), is_call)


def _head(
    context: Context, options: argparse.Namespace, executions: Sequence[Execution], total: int, begin: int, shown: int
) -> list[Line]:
    """Which of the `total` executions are shown, and the commands for those before and behind them."""
    end = begin + shown
    part = f"{begin + 1:,} to {end:,} of " if shown < total else ""
    order = "in order of time" if _in_order_of_time(context, executions) else "one program behind the other"
    lines = [line(Span(f"{part}{count_text(total, 'execution')}", Style.TITLE), f", {order}")]
    links: list[Span | str] = []
    if begin:
        before = COMMAND.spell(options, begin=max(1, begin + 1 - options.count))
        links += [Span(before, Style.KEY, before), " is the page before"]
    if end < total:
        after = COMMAND.spell(options, begin=end + 1)
        links += ["; " if links else "", Span(after, Style.KEY, after), " the next" if begin else " is the next page"]
    if links:
        links.append(". ")
    if not _tells_executions(context):
        links += [Span("alerts", Style.KEY, "alerts"), " says which of them hold NaN or infinity."]
    return [*lines, *([line(*links)] if links else [])]


def _lines_lost(context: Context, executions: Sequence[Execution]) -> list[Line]:
    """Why the column of lines is empty, where what tells of them is gone."""
    runs = ((context.runs[one.run], one) for one in executions) if _tells_executions(context) else ()
    lost = lines_lost((run.tracebacks, _frame(run, one)) for run, one in runs)
    return [line(Span(lost, Style.WARNING))] if lost else []


def _row(context: Context, executed: Execution, at: int, start: int | None) -> Row:
    run = context.runs[executed.run]
    frame = _frame(run, executed)
    elapsed = "" if executed.time_us is None or start is None else f"{(executed.time_us - start) / 1000:,.3f}"
    bad = _nonfinite(run, executed)
    holds = {True: Span("NaN or inf", Style.NAN), False: Span("fine", Style.GOOD), None: Span("", Style.DIM)}[bad]
    place = Span("")
    if frame is not None:
        text = f"{frame.file.rpartition('/')[2]}:{frame.line}"
        place = Span(text, Style.LABEL, source_link(frame.file, frame.line))
    link = f"runs {executed.run + 1}"
    name = f"{executed.op_type}()" if executed.is_call else executed.op_type
    return (
        Span(f"{at + 1:,}", Style.NUMBER),
        Span(elapsed, Style.NUMBER),
        Span(f"#{executed.number}", Style.NUMBER, link),
        holds,
        place,
        Span(name, Style.NAME if executed.is_call else Style.OP, link),
    )


def _frame(run: Run, executed: Execution) -> Frame | None:
    return made_at(run.tracebacks, executed.node) if executed.node else None


def _nonfinite(run: Run, executed: Execution) -> bool | None:
    """Whether an output is not finite; None where nobody knows."""
    if not executed.node:
        return None
    known = [summary_of(run.tensors, index) for index in run.tensors.named(executed.node)]
    told = [summary.any_nonfinite for summary in known if summary is not None]
    return True if True in told else False if False in told else None


def _bad(run: Run, executed: Execution) -> Known:
    """How many elements of its outputs are NaN or infinite, as far as that is known."""
    if not executed.node:
        return None
    return added(_bad_at(run, index) for index in run.tensors.named(executed.node))


def _bad_at(run: Run, index: int) -> Known:
    summary = summary_of(run.tensors, index)
    if summary is None:
        value = run.tensors.value(index)
        return ANY_COUNT if isinstance(value, NoValue) and value.lack in LOST else 0
    return known_figure(summary, "bad")


def _data(context: Context, executed: Execution, at: int) -> dict[str, Any]:
    run = context.runs[executed.run]
    frame = _frame(run, executed)
    return {
        "number": at + 1,
        "run": executed.number,
        "place": executed.run + 1,
        "op_type": executed.op_type,
        "node": executed.node or None,
        "is_call": executed.is_call,
        "time_us": executed.time_us,
        "outputs": executed.outputs,
        "nonfinite": _nonfinite(run, executed),
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
    }


COMMAND = Command(
    "timeline",
    (),
    "What the program executed, one thing after the other: calls of functions, and eager ops.",
    _timeline,
    (
        Argument(("begin",), "the execution to begin with, from 1", metavar="N", type=int, nargs="?", default=1),
        Argument(("-n", "--count"), "how many to show", metavar="COUNT", type=int, default=_PAGE),
        QUERY_ARGUMENT,
    ),
    moments=WITH_TENSORS,
    graph=True,
    details="""\
Of an event set of Debugger V2 each op that ran eagerly is a row of its own; of other recordings a run is, and
`alerts` tells what runs hold.

Examples:
  timeline
  timeline 2001 -n 50
  timeline -q 'bad>0 or op=MatMul'    of an event set: what gave NaN or infinity, and every product""",
    section="Look",
)
