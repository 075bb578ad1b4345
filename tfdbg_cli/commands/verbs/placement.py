"""`placement`: ops by device, copies between devices, ops that fell back to the CPU."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from tfdbg_cli.analysis.placement import (
    DeviceCopy,
    DeviceLoad,
    Fallback,
    Known,
    Placement,
    device_type,
    has_several_cpus,
    placement_of,
)
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.short_names import ShortNames, shared_by_most
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.units import bytes_text, count_text

_Row: TypeAlias = DeviceLoad | DeviceCopy | Fallback
_SOURCES = {
    Known.RUNTIME: ("Where ops ran", "The runtime's graph names the devices."),
    Known.VALUES: ("Where ops ran", "A device is the one on which an op's first value lies."),
    Known.REQUESTED: (
        "Where the program wants ops to run",
        "Only what the program requested is known of this run; where nothing was requested TensorFlow chose.",
    ),
}


_ANY_CPU = (
    "TensorFlow says of values of any CPU that they lie on the first one: where the program named no device, CPU:0 "
    "may be another one, and copies between CPUs are not known."
)


def _placement(context: Context, options: argparse.Namespace) -> Document:
    whole = _whole(context, options)
    left = _facts(context).left(
        options.query, (*whole.devices, *whole.copies, *whole.fallbacks), COMMAND.spell(options, query="")
    )
    found = _with_rows(whole, left.rows) if options.query else whole
    blocks: list[Block] = [Text((*_head(context, options, whole), *left.head))]
    if found.devices:
        blocks += [Text((EMPTY_LINE,)), _devices(found)]
    blocks += _copies(context, options, found) + _fallbacks(context, found)
    return Document("placement", tuple(blocks), lambda: {**_data(found), **left.data}, left.title("placement"))


def _whole(context: Context, options: argparse.Namespace) -> Placement:
    """The placement; that shown last where a query is asked of it, for one that is typed asks with each key."""
    key = context.current, options.device
    if not options.query or key not in context.memory.placements:
        wanted = pattern(options.device) if options.device else None
        context.memory.placements[key] = placement_of(context.run, wanted)
    return context.memory.placements[key]


def _facts(context: Context) -> PlainRows[_Row]:
    """What a query can ask of a device, a copy (its device is the one that it is made from) or an op."""
    return PlainRows(
        "placement",
        _name,
        {"op": lambda row: _op_type(context, row), "device": _device_of},
        {
            "tensors": lambda row: row.tensors if isinstance(row, DeviceLoad) else 1,
            "size": lambda row: math.nan if isinstance(row, Fallback) or row.nbytes is None else row.nbytes,
        },
    )


def _name(row: _Row) -> str:
    match row:
        case DeviceLoad():
            return _device(row.device)
        case DeviceCopy():
            return str(row.tensor)
        case Fallback():
            return row.node


def _device_of(row: _Row) -> str:
    return _device(row.source if isinstance(row, DeviceCopy) else row.device)


def _op_type(context: Context, row: _Row) -> str:
    if isinstance(row, DeviceLoad):
        return ""
    if isinstance(row, Fallback):
        return row.op_type
    node = context.run.graph.find(row.tensor.node)
    return "" if node is None else node.op_type


def _with_rows(found: Placement, rows: Sequence[_Row]) -> Placement:
    return replace(
        found,
        devices=tuple(row for row in rows if isinstance(row, DeviceLoad)),
        copies=tuple(row for row in rows if isinstance(row, DeviceCopy)),
        fallbacks=tuple(row for row in rows if isinstance(row, Fallback)),
    )


def _head(context: Context, options: argparse.Namespace, found: Placement) -> list[Line]:
    title, source = _SOURCES[found.known]
    on = f", on devices like {options.device}" if options.device else ""
    lines = [line(Span(f"{title}{on}", Style.TITLE)), line(Span(source, Style.DIM))]
    if found.known is Known.VALUES and has_several_cpus(context.run):
        lines.append(line(Span(_ANY_CPU, Style.HINT)))
    if found.known is Known.REQUESTED and context.run.graph.kind is GraphKind.PYTHON and not context.call.function:
        command = "run --graph runtime"
        lines.append(line(Span(command, Style.KEY, command), Span(" shows where the ops of a run went.", Style.HINT)))
    if not found.devices:
        lines += [EMPTY_LINE, line("No op is on such a device." if options.device else "This run has no graph.")]
    return lines


def _device(name: str) -> str:
    return short_device(name) if name else "not known"


def _devices(found: Placement) -> Table:
    columns = (Column("Ops", right=True), Column("Tensors", right=True), Column("Size", right=True), Column("Device"))

    def row(i: int) -> Row:
        load = found.devices[i]
        lack = "not known" if load.tensors else "not known: no value was captured"
        unknown = "not requested" if found.known is Known.REQUESTED else lack
        return (
            Span(f"{load.ops:,}", Style.NUMBER),
            Span(f"{load.tensors:,}", Style.NUMBER),
            Span(bytes_text(load.nbytes), Style.NUMBER),
            Span(_device(load.device) if load.device else unknown, Style.DEVICE, _tensors_on(load)),
        )

    return Table(columns, len(found.devices), row)


def _tensors_on(load: DeviceLoad) -> str:
    return f"lt --device {quoted(re.escape(load.device) + '$')}" if load.device and load.tensors else ""


def _section(text: str, style: Style = Style.HEADING) -> list[Block]:
    return [Text((EMPTY_LINE, line(Span(text, style))))]


def _copies(context: Context, options: argparse.Namespace, found: Placement) -> list[Block]:
    if not found.copies and options.query:
        return []
    if not found.copies:
        kinds = {device_type(load.device) for load in found.devices if load.device}
        several = len([load for load in found.devices if load.device]) > 1
        if several and found.known is Known.VALUES and kinds == {"CPU"}:
            return []  # the head says that nobody knows
        return _section("No copies between devices.", Style.DIM) if several else []
    total = sum(copy.nbytes or 0 for copy in found.copies)
    words = "would be copied" if found.known is Known.REQUESTED else "copied between devices"
    head = _section(f"{count_text(len(found.copies), 'tensor')} {words}, {bytes_text(total)}")
    columns = (Column("Size", right=True), Column("From"), Column("To"), Column("Tensor", keep_end=True))
    names = shared_by_most(context.run.graph, len(found.copies), lambda i: found.copies[i].tensor.node)

    def row(i: int) -> Row:
        copy = found.copies[i]
        captured = bool(context.run.tensors.named(copy.tensor.node, copy.tensor.slot))
        link = f"pt {quoted(str(copy.tensor))}" if captured else node_link(copy.tensor.node)
        return (
            Span(bytes_text(copy.nbytes), Style.NUMBER),
            Span(_device(copy.source), Style.DEVICE),
            Span(_device(copy.target), Style.DEVICE),
            Span(names.short(str(copy.tensor)), Style.NAME, link),
        )

    return [*head, *_legend(names), Table(columns, len(found.copies), row)]


def _legend(names: ShortNames) -> list[Block]:
    legend = names.legend()
    return [Text(tuple(legend))] if legend else []


def _fallbacks(context: Context, found: Placement) -> list[Block]:
    if not found.fallbacks:
        return []
    asked = sum(1 for item in found.fallbacks if item.requested)
    most = "while most ops ran on an accelerator"
    why = (
        most
        if not asked
        else "although another device was requested"
        if asked == len(found.fallbacks)
        else (f"{asked:,} of them although another device was requested")
    )
    head = _section(f"{count_text(len(found.fallbacks), 'op')} fell back to the CPU, {why}", Style.WARNING)
    columns = (Column("Op type"), Column("Requested"), Column("Ran on"), Column("Node", keep_end=True))
    names = shared_by_most(context.run.graph, len(found.fallbacks), lambda i: found.fallbacks[i].node)

    def row(i: int) -> Row:
        item = found.fallbacks[i]
        return (
            Span(item.op_type, Style.OP),
            Span(_device(item.requested) if item.requested else "nothing", Style.DEVICE),
            Span(_device(item.device), Style.DEVICE),
            Span(names.short(item.node), Style.NAME, node_link(item.node)),
        )

    return [*head, *_legend(names), Table(columns, len(found.fallbacks), row)]


def _data(found: Placement) -> dict[str, Any]:
    return {
        "known": str(found.known),
        "devices": [
            {"device": load.device, "ops": load.ops, "tensors": load.tensors, "nbytes": load.nbytes}
            for load in found.devices
        ],
        "copies": [
            {"tensor": str(copy.tensor), "from": copy.source, "to": copy.target, "nbytes": copy.nbytes}
            for copy in found.copies
        ],
        "fallbacks": [
            {"node": item.node, "op_type": item.op_type, "requested": item.requested, "device": item.device}
            for item in found.fallbacks
        ],
    }


COMMAND = Command(
    "placement",
    ("pl",),
    "Ops by device, copies between devices, ops that fell back to the CPU.",
    _placement,
    (
        Argument(
            ("--device",), "only what touches devices like this", ArgumentKind.DEVICE, metavar="REGEX", default=""
        ),
        QUERY_ARGUMENT,
    ),
    moments=WITH_TENSORS,
    details="""\
A session's runtime graph names the device of every op. Of a function the devices are those on which its values lie;
of a session's Python graph only those that the program requested are known. A tensor counts as copied once for each
device on which an op reads it. Constants, placeholders and calls do not count as fallen back.

Examples:
  placement
  pl --device GPU
  pl -q 'size>1MB or dense'     large copies, and what has dense in its name""",
    section="Graph",
    graph=True,
)
