"""`list_profile`: how long the ops of a run took, after `run -p`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.times.time_groups import GroupBy, grouped
from tfdbg_cli.analysis.times.timing import SORT_KEYS, TimedNode, TimeQuery, by_device, select
from tfdbg_cli.commands.asked.elsewhere import in_the_program
from tfdbg_cli.commands.asked.intervals import time_interval
from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.profile_groups import group_blocks, group_data
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.times import TIME_UNITS, time_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.units import count_text

# Each with its sort key. Long names give way, so that the times are seen on a narrow screen.
_COLUMNS = (
    (Column("Node", keep_end=True, least=28), "node"),
    (Column("Op type", drop=1), "op_type"),
    (Column("Start", right=True, drop=2), "start_time"),
    (Column("Op time", right=True), "op_time"),
    (Column("Exec time", right=True), "exec_time"),
    (Column("Made at"), "line"),
)
_EVERY = tuple(range(len(_COLUMNS)))
_OF_PROFILE = (0, 2, 3, 4, 1)  # which knows no line of the program; the op type takes the room that is left
_LARGEST_FIRST = frozenset({"op_time", "exec_time"})


def _list_profile(context: Context, options: argparse.Namespace) -> Document:
    profile = context.run.profile
    if profile is None:
        where = in_the_program(context, "run -p")
        raise TfdbgError("This run was not profiled.", hint=f"{where} times every op of the next run.")
    found = select(profile, context.tracebacks, _query(options))
    left = _ROWS.left(options.query, found, COMMAND.spell(options, query=""))
    found = list(left.rows)
    if options.by:
        return _grouped(context, options, left)
    found.sort(key=SORT_KEYS[options.sort_by], reverse=options.reverse)
    devices = by_device(found)
    alone = context.call.kind is RunKind.PROFILE  # times, of which nothing else is known
    of = "" if len(found) == len(profile.times) else f" of {len(profile.times):,}"
    head = [line(Span(f"{count_text(len(found), 'execution')}{of}", Style.TITLE)), *_notes(context)]
    head += [_other_looks(options)] if len(found) > 1 else []
    blocks: list[Block] = [Text(tuple(head))]
    if options.query:
        blocks.append(Text(tuple(left.head)))
    for i, (device, times) in enumerate(devices.items(), 1):
        blocks += _device(
            f"Device {i} of {len(devices)}: {device}", times, options, alone=alone, lines=bool(context.tracebacks)
        )
    if not found:
        blocks.append(Text((line(Span("No op passes the filters.", Style.HINT)),)))
    return Document("profile", tuple(blocks), lambda: {**_data(devices), **left.data}, left.title("profile"))


def _grouped(context: Context, options: argparse.Namespace, left: Left[TimedNode]) -> Document:
    """The executions that are `left` by what they have in common, with the sums of their times."""
    profile = context.run.profile
    assert profile is not None
    by = GroupBy(options.by)
    groups = grouped(left.rows, by, context.graph)
    if options.sort_by == "op_time":
        groups.sort(key=lambda group: -group.op_us)
    if options.reverse:
        groups.reverse()
    many = f"{count_text(len(groups), 'group')} of {count_text(len(left.rows), 'execution')}"
    of = "" if len(left.rows) == len(profile.times) else f" of {len(profile.times):,}"
    head = [line(Span(many + of, Style.TITLE)), *_notes(context), *left.head]
    shown = group_blocks(groups, by, options.time_unit, lambda **one: COMMAND.spell(options, by="", **one))
    if not groups:
        shown = [Text((line(Span("No op passes the filters.", Style.HINT)),))]
    blocks = (Text(tuple(head)), *shown)
    return Document(
        "profile", blocks, lambda: {**group_data(groups, by), **left.data}, left.title(f"profile by {by}")
    )


def _notes(context: Context) -> list[Line]:
    """What is to be said of a profile, where nothing else is shown of it."""
    if context.call.kind is not RunKind.PROFILE or not isinstance(context.stop, Opened):
        return []
    return [line(Span(note, Style.HINT)) for note in (*context.stop.notes, *context.run.notes)]


_ROWS = PlainRows[TimedNode](
    "an execution",
    lambda timed: timed.time.node,
    {"op": lambda timed: timed.time.op_type, "device": lambda timed: short_device(timed.time.device)},
)


def _query(options: argparse.Namespace) -> TimeQuery:
    return TimeQuery(
        search_text(options.device_name_filter),
        search_text(options.node_name_filter),
        search_text(options.op_type_filter),
        search_text(options.file_path_filter),
        options.min_lineno,
        options.max_lineno,
        time_interval(options.execution_time),
        time_interval(options.op_time),
    )


def _device(
    title: str, times: Sequence[TimedNode], options: argparse.Namespace, *, alone: bool, lines: bool
) -> list[Block]:
    unit = options.time_unit
    order = _OF_PROFILE if alone else _EVERY

    def row(i: int) -> Row:
        if i == len(times):
            cells = _total(times, unit)
        else:
            timed = times[i]
            link = _alike(timed, options) if alone else node_link(timed.time.node)
            cells = (
                Span(timed.time.node, Style.NAME, link),
                Span(timed.time.op_type, Style.OP),
                Span(time_text(timed.time.start_us, unit), Style.NUMBER),
                Span(time_text(timed.time.op_us, unit), Style.NUMBER),
                Span(time_text(timed.time.exec_us, unit), Style.NUMBER),
                _place(timed.frame, options) if lines else Span("not told", Style.DIM),
            )
        return tuple(cells[at] for at in order)

    heads = [_with_sort(column, key, options) for column, key in _COLUMNS]
    heading = Text((EMPTY_LINE, line(Span(title, Style.DEVICE))))
    return [heading, Table(tuple(heads[at] for at in order), len(times) + 1, row)]


def _with_sort(column: Column, key: str, options: argparse.Namespace) -> Column:
    """The column with its head a link that sorts, every filter kept; sorted by it already, the other way round."""
    current = options.sort_by == key
    reverse = not options.reverse if current else key in _LARGEST_FIRST
    mark = ("▼" if options.reverse else "▲") if current else ""
    return replace(column, title=column.title + mark, link=COMMAND.spell(options, sort_by=key, reverse=reverse))


def _other_looks(options: argparse.Namespace) -> Line:
    """Links to what one looks for in a profile: what took longest, and the sums."""
    slowest = COMMAND.spell(options, sort_by="op_time", reverse=True)
    spans: list[Span | str] = [Span("slowest first", Style.KEY, slowest)]
    for by in (GroupBy.LAYER, GroupBy.TYPE):
        spans += ["  ", Span(f"--by {by}", Style.KEY, COMMAND.spell(options, by=str(by)))]
    return line(*spans)


def _alike(timed: TimedNode, options: argparse.Namespace) -> str:
    """The same list of this node alone: a profile knows no more of it."""
    return COMMAND.spell(options, node_name_filter=f"^{re.escape(timed.time.node)}$")


def _total(times: Sequence[TimedNode], unit: str) -> Row:
    return (
        Span("Total", Style.LABEL),
        Span(count_text(len({timed.time.node for timed in times}), "node"), Style.LABEL),
        Span(""),
        Span(time_text(sum(timed.time.op_us for timed in times), unit), Style.NUMBER),
        Span(time_text(sum(timed.time.exec_us for timed in times), unit), Style.NUMBER),
        Span(""),
    )


def _place(frame: Frame | None, options: argparse.Namespace) -> Span:
    if frame is None:
        return Span("made by the runtime", Style.DIM)
    unit = f" --time_unit {options.time_unit}" if options.time_unit else ""
    short = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
    link = f"ps {quoted(frame.file)} -b {frame.line}{unit}"
    return Span(f"{short}:{frame.line}({frame.function})", Style.NAME, link)


def _data(devices: dict[str, list[TimedNode]]) -> dict[str, Any]:
    return {
        "devices": [
            {
                "device": device,
                "op_us": sum(timed.time.op_us for timed in times),
                "exec_us": sum(timed.time.exec_us for timed in times),
                "executions": [
                    {
                        "node": timed.time.node,
                        "op_type": timed.time.op_type,
                        "start_us": timed.time.start_us,
                        "op_us": timed.time.op_us,
                        "exec_us": timed.time.exec_us,
                        "file": timed.frame.file if timed.frame else None,
                        "line": timed.frame.line if timed.frame else None,
                        "function": timed.frame.function if timed.frame else None,
                    }
                    for timed in times
                ],
            }
            for device, times in devices.items()
        ]
    }


def _filter(flags: tuple[str, ...], what: str, kind: ArgumentKind) -> Argument:
    return Argument(flags, f"only {what} like this", kind, metavar="REGEX", default="")


COMMAND = Command(
    "list_profile",
    ("lp",),
    "How long each op took, after `run -p`.",
    _list_profile,
    (
        _filter(("-d", "--device_name_filter"), "devices", ArgumentKind.DEVICE),
        _filter(("-n", "--node_name_filter"), "nodes", ArgumentKind.NODE),
        _filter(("-t", "--op_type_filter"), "op types", ArgumentKind.OP_TYPE),
        _filter(("-f", "--file_path_filter"), "files", ArgumentKind.SOURCE),
        Argument(("--min_lineno",), "only lines from LINE on", metavar="LINE", type=int),
        Argument(("--max_lineno",), "only lines before LINE", metavar="LINE", type=int),
        Argument(
            ("-e", "--execution_time"), "only such exec times: <100ms, [1us,5ms)", metavar="INTERVAL", default=""
        ),
        Argument(("-o", "--op_time"), "only such op times: >=2us", metavar="INTERVAL", default=""),
        Argument(
            ("--by",),
            "sums by what ops have in common, the longest exec time first (with -s op_time, op time)",
            choices=tuple(map(str, GroupBy)),
            default="",
        ),
        Argument(("-s", "--sort_by"), "what to sort by", choices=tuple(SORT_KEYS), default="start_time"),
        Argument(("-r", "--reverse"), "the other way round", switch=True),
        Argument(
            ("--time_unit",), "the unit of all times; by default one that suits", choices=TIME_UNITS, default=""
        ),
        QUERY_ARGUMENT,
    ),
    moments=WITH_TENSORS,
    section="Source and time",
    details="""\
Op time is the computation alone, exec time with the scheduling before and after it. Headings sort and keep every
filter. TensorFlow's own profiles (`tfdbg open NAME.xplane.pb`) are listed so, too.

Examples:
  lp -s exec_time -r
  lp --by layer               what each layer took, and its share; op, type, line, device
  lp -t MatMul -e '>=100us' --time_unit ms
  lp -q 'dense op=MatMul'""",
)
