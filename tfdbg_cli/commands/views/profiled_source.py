"""A source file with the time that the nodes made on each line took."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.graph.nodes.annotation import nodes_by_line
from tfdbg_cli.analysis.times.timing import LineCost, TimeQuery, costs_by_line, select
from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.source import highlighted
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.document.times import time_text
from tfdbg_cli.model.profile import NodeTime, Profile

_COSTS: Mapping[str, Callable[[NodeTime], float]] = {
    "exec_time": lambda time: time.exec_us,
    "op_time": lambda time: time.op_us,
}
COST_TYPES = tuple(_COSTS)
_TICKS = 10


def profiled_source(
    context: Context, profile: Profile, path: str, source: Sequence[str], begin: int, options: argparse.Namespace
) -> Document:
    """The file at `path`: a cost bar, the total time and the number of nodes(executions) before each line."""
    cost_type = options.cost_type or COST_TYPES[0]
    op_type = options.op_type_filter if isinstance(options.op_type_filter, str) else ""
    query = TimeQuery(
        search_text(options.device_name_filter), search_text(options.node_name_filter), search_text(op_type)
    )
    times = select(profile, context.tracebacks, query)
    made = nodes_by_line(context.graph, context.tracebacks, path)
    costs = costs_by_line(times, made, _COSTS[cost_type])
    most = max((cost.cost_us for cost in costs.values()), default=0.0)
    total = sum(cost.cost_us for cost in costs.values())
    unit = options.time_unit
    texts = {number: (time_text(c.cost_us, unit), f"{c.nodes}({c.executions})") for number, c in costs.items()}
    widths = [max([len(row[i]) for row in texts.values()], default=0) for i in (0, 1)]
    digits = len(str(len(source)))
    colored = highlighted(source)
    head = line(
        Span(path, Style.TITLE),
        f"  {cost_type} {time_text(total, unit)} in all; each line: its share, its time, nodes(executions)",
    )

    def make(i: int) -> Line:
        number = i + 1
        left: list[Span | str] = [" " * (_TICKS + 2 + widths[0] + widths[1] + 3)]
        if number in costs:
            link = _profile_link(path, number, query)
            time, count = texts[number]
            bar = _bar(costs[number].cost_us, most)
            left = [
                Span(bar, Style.WARNING), " ", Span(time.rjust(widths[0]), Style.NUMBER), " ",
                Span(count.rjust(widths[1]), Style.KEY, link), " ",
            ]  # fmt: skip
        return line(*left, Span(f"{number:>{digits}}  ", Style.DIM), *colored[i].spans)

    blocks = (Text((head,)), Rows(len(source), make))
    return Document("source", blocks, lambda: _data(path, source, costs, cost_type), f"source {path}", begin)


def _bar(cost: float, most: float) -> str:
    """`[|||||     ]`: ten ticks for the dearest line."""
    ticks = round(_TICKS * cost / most) if most else 0
    return f"[{'|' * ticks}{' ' * (_TICKS - ticks)}]"


def _profile_link(path: str, number: int, query: TimeQuery) -> str:
    """`lp` of what one line made, under the same filters."""
    words = ["lp", "-f", quoted(f"^{re.escape(path)}$"), "--min_lineno", str(number), "--max_lineno", str(number + 1)]
    for flag, value in (("-d", query.device), ("-n", query.node), ("-t", query.op_type)):
        words += [flag, quoted(value)] if value else []
    return " ".join(words)


def _data(path: str, source: Sequence[str], costs: Mapping[int, LineCost], cost_type: str) -> dict[str, Any]:
    lines = [
        {
            "line": number,
            "text": text,
            "cost_us": costs[number].cost_us if number in costs else None,
            "nodes": costs[number].nodes if number in costs else 0,
            "executions": costs[number].executions if number in costs else 0,
        }
        for number, text in enumerate(source, 1)
    ]
    return {"path": path, "cost_type": cost_type, "lines": lines}
