"""What is around a node, in a preview: where it was made, what it was made from, what was made of it."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value, feed_name
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, neighbours_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.health_rows import HealthRow, health_section
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import given_link, node_link, place_span, tensor_link
from tfdbg_cli.commands.views.lists.tensor_columns import tensor_data
from tfdbg_cli.commands.views.made_at import around_text
from tfdbg_cli.commands.views.short_names import around
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.summary import summary_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.units import count_text

_MOST = 8  # inputs, and recipients, that are listed


def store_of(context: Context) -> TensorStore:
    """The tensors of the run looked at; none before a run."""
    return EMPTY_STORE if isinstance(context.stop, RunStart) and context.stepper is None else context.run.tensors


def made_at_lines(context: Context, node: str) -> list[Line]:
    """Where the node was made, and the line that made it; of what a function captures, where that is read."""
    frame = made_at(context.tracebacks, node)
    if frame is None:
        return []
    behind = f" in {frame.function}{around_text(context.tracebacks, node)}"
    source = context.sources.lines(frame.file)
    text = source[frame.line - 1] if source is not None and frame.line <= len(source) else frame.text
    shown = [line(f"  {text.strip()}")] if text.strip() else []
    captured = any(argument.captured and argument.name == node for argument in context.call.arguments)
    return [line(Span("Read at " if captured else "Made at ", Style.LABEL), place_span(frame), behind), *shown]


def made_at_data(context: Context, node: str) -> dict[str, Any] | None:
    """The JSON form of where the node was made."""
    frame = made_at(context.tracebacks, node)
    return None if frame is None else {"file": frame.file, "line": frame.line, "function": frame.function}


class Neighbourhood:
    """The tensors that the node called `name` reads, and those that were made of what it gave.

    `index` is the tensor that is looked at: of a tensor that was produced several times the execution that belongs to
    it is meant. Without it all outputs of the node count.
    """

    def __init__(self, context: Context, name: str, device: str, index: int | None) -> None:
        self._context = context
        self._name = name
        self._store = store_of(context)
        self._index = index
        self._short = around(context.graph, name)
        self.inputs: list[HealthRow] = []
        self.outputs: list[HealthRow] = []
        node = context.graph.find(name, device or None) or context.graph.find(name)
        if node is not None:
            edges = neighbours_of(context.graph)
            slot = None if index is None else self._store[index].slot
            readers = (edge for edge in edges.outputs(node) if slot is None or edge.tensor.slot == slot)
            self.inputs = [self._made_from(edge) for edge in edges.inputs(node)]
            self.outputs = [self._made_of(edge.node) for edge in readers if edge.node is not None]

    def blocks(self) -> tuple[Block, ...]:
        """Both as tables with the health of each."""
        return *self._section(self.inputs, "input", "li"), *self._section(self.outputs, "recipient", "lo")

    def data(self) -> dict[str, Any]:
        """The JSON form: those that were captured, with what they hold in numbers."""
        return {
            "inputs": [described(self._context, row.index) for row in self.inputs if row.index is not None],
            "outputs": [described(self._context, row.index) for row in self.outputs if row.index is not None],
        }

    def _made_from(self, edge: Edge) -> HealthRow:
        found = self._nearest(self._store.named(edge.tensor.node, edge.tensor.slot), ahead=False)
        name = self._short.short(str(edge.tensor))
        op = Span(edge.node.op_type if edge.node is not None else "", Style.OP)
        if found is not None:
            return HealthRow(found, Span(name, Style.NAME, tensor_link(self._store, found)), op)
        feeds, fed = self._context.call.feeds, feed_name(edge.node) or edge.tensor
        link = given_link(self._context.call, fed)
        if link:
            return HealthRow(None, Span(name, Style.NAME, link), op, lambda: fed_value(feeds, fed))
        return HealthRow(
            None, Span(name, Style.NAME, node_link(edge.tensor.node) if edge.node is not None else ""), op
        )

    def _made_of(self, reader: Node) -> HealthRow:
        found = self._nearest(self._store.named(reader.name), ahead=True)
        name = reader.name if found is None else str(self._store[found].name)
        link = node_link(reader.name) if found is None else tensor_link(self._store, found)
        shown = Span(self._short.short(name), Style.NAME, link)
        return HealthRow(found, shown, Span(reader.op_type, Style.OP))

    def _nearest(self, indices: Sequence[int], *, ahead: bool) -> int | None:
        """Of `indices`, in order, the next one behind the tensor looked at, or the one before it."""
        if not indices or self._index is None:
            return indices[-1] if indices else None
        if ahead:
            return indices[min(bisect.bisect_right(indices, self._index), len(indices) - 1)]
        return indices[max(bisect.bisect_left(indices, self._index) - 1, 0)]

    def _section(self, rows: Sequence[HealthRow], noun: str, verb: str) -> tuple[Block, ...]:
        if not rows:
            return (Text((EMPTY_LINE, line(Span(f"No {noun}s.", Style.DIM)))),)
        left = len(rows) - _MOST
        more = Span(f"{left} more", Style.KEY, f"{verb} {quoted(self._name)}") if left > 0 else None
        heading = Span(count_text(len(rows), noun), Style.HEADING)
        return health_section(self._context, heading, rows[:_MOST], more)


def described(context: Context, index: int) -> dict[str, Any]:
    """The JSON form of a tensor and what it holds in numbers."""
    return tensor_data(context, index) | {"summary": summary_data(context.summary(index))}
