"""What ops took together that have something in common: their type, layer, line or device."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tfdbg_cli.analysis.times.time_groups import GroupBy, TimeGroup
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, source_link
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.times import time_text
from tfdbg_cli.model.names import short_device

_HEADS = {
    GroupBy.OP: "Node",
    GroupBy.TYPE: "Op type",
    GroupBy.LAYER: "Layer",
    GroupBy.LINE: "Line",
    GroupBy.DEVICE: "Device",
}
_WITHOUT = {GroupBy.LAYER: "in no layer", GroupBy.LINE: "made by the runtime"}
_STYLES = {GroupBy.TYPE: Style.OP, GroupBy.DEVICE: Style.DEVICE}


def group_blocks(groups: Sequence[TimeGroup], by: GroupBy, unit: str, list_link: Callable[..., str]) -> list[Block]:
    """A table of `groups` with their share of the time of all; `list_link` spells the list of one group alone."""
    total = sum(group.exec_us for group in groups)
    columns = (
        Column("Share", right=True),
        Column("Exec time", right=True),
        Column("Op time", right=True, drop=1),
        Column("Runs", right=True, drop=2),
        Column("Nodes", right=True, drop=3),
        Column(_HEADS[by], subject=True, keep_end=by is not GroupBy.TYPE),
    )

    def row(i: int) -> Row:
        group = groups[i]
        share = f"{100 * group.exec_us / total:.1f}%" if total else ""
        return (
            Span(share, Style.NUMBER),
            Span(time_text(group.exec_us, unit), Style.NUMBER),
            Span(time_text(group.op_us, unit), Style.NUMBER),
            Span(f"{len(group.times):,}", Style.NUMBER),
            Span(f"{group.nodes:,}", Style.NUMBER),
            _name(group, by, list_link),
        )

    return [Text((EMPTY_LINE, _total_line(groups, unit))), Table(columns, len(groups), row)]


def _total_line(groups: Sequence[TimeGroup], unit: str) -> Line:
    op_us, exec_us = (sum(group.op_us for group in groups), sum(group.exec_us for group in groups))
    label, times = Span("Total  ", Style.LABEL), f"op time {time_text(op_us, unit)}, exec time "
    return line(label, times, time_text(exec_us, unit))


def _name(group: TimeGroup, by: GroupBy, list_link: Callable[..., str]) -> Span:
    if not group.name:
        return Span(_WITHOUT.get(by, "?"), Style.DIM)
    text, first = group.name, group.times[0]
    if by is GroupBy.OP:
        link = node_link(text)
    elif by is GroupBy.TYPE:
        link = list_link(op_type_filter=f"^{re.escape(text)}$")
    elif by is GroupBy.LAYER:
        link = f"ll {quoted(text)}"
    elif by is GroupBy.LINE and first.frame is not None:
        link = source_link(first.frame.file, first.frame.line)
        text = (
            f"{first.frame.file.replace(chr(92), '/').rpartition('/')[2]}:{first.frame.line}({first.frame.function})"
        )
    else:
        text, link = short_device(text), list_link(device_name_filter=f"^{re.escape(text)}$")
    return Span(text, _STYLES.get(by, Style.NAME), link)


def group_data(groups: Sequence[TimeGroup], by: GroupBy) -> dict[str, Any]:
    """The same for scripts; times in microseconds, a name that nothing tells is null."""
    total = sum(group.exec_us for group in groups)
    rows = []
    for group in groups:
        frame = group.times[0].frame if by is GroupBy.LINE else None
        rows.append(
            {
                "name": group.name or None,
                "nodes": group.nodes,
                "executions": len(group.times),
                "op_us": group.op_us,
                "exec_us": group.exec_us,
                "share": group.exec_us / total if total else None,
                **({"file": frame and frame.file, "line": frame and frame.line} if by is GroupBy.LINE else {}),
            }
        )
    return {"by": str(by), "groups": rows}
