"""`path`: the shortest way along which a value got from one op to another."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.graph.ways.between import Way, shortest_way
from tfdbg_cli.analysis.graph.ways.open_ends import open_ends
from tfdbg_cli.commands.asked.arguments import DEVICE_ARGUMENT
from tfdbg_cli.commands.asked.node_choice import find_node
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.links import node_link, tensor_link
from tfdbg_cli.commands.views.lists.health_columns import CountedLater, HealthCell, health_cells
from tfdbg_cli.commands.views.short_names import ShortNames, around
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import summary_data
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.units import count_text, names_text, shape_text
from tfdbg_cli.ops.effects import updates_variable

_HEALTH = ("nan", "inf", "absmax", "source")


def _path(context: Context, options: argparse.Namespace) -> Document:
    start = find_node(context, options.start, options.device)
    end = find_node(context, options.end, options.device)
    if start.graph is not end.graph:
        raise TfdbgError(f"{start.node.name} and {end.node.name} are not in one graph.", hint=start.note or end.note)
    way, turned = shortest_way(start.graph, start.node, end.node), False
    if way is None:
        way, turned = shortest_way(start.graph, end.node, start.node), True
    names = around(start.graph, end.node.name)
    return _Screen(context, start.graph, start.node, end.node, way, turned, names).document()


@dataclass(frozen=True)
class _Screen:
    """What `path` shows. `turned` says that the value flows the other way."""

    context: Context
    graph: Graph
    start: Node
    end: Node
    way: Way | None
    turned: bool
    names: ShortNames

    def document(self) -> Document:
        way = self.way
        title = f"path {self.start.name} {self.end.name}"
        if way is None:
            return Document("path", (Text(tuple(self._none())),), self._data, title)
        indices = self._indices(way)
        counted = _Counted(CountedLater(self.context, range(len(self._store))), indices) if indices else None
        if counted is not None and not self.context.later:
            for row in filter(counted.missing, range(len(indices))):
                for _ in counted.count(row):
                    pass
        table = Table(self._columns(), len(way.nodes), lambda i: self._row(way, indices, i), later=counted)
        return Document("path", (Text((*self._head(way), EMPTY_LINE)), table), self._data, title)

    @property
    def _store(self) -> TensorStore:
        return EMPTY_STORE if isinstance(self.context.stop, RunStart) else self.context.run.tensors

    def _none(self) -> Iterator[Line]:
        unknown = self._open_ends()
        flows = "No value is known to flow from " if unknown else "No value flows from "
        yield line(flows, self._node(self.start), " to ", self._node(self.end), ", nor the other way.")
        if unknown:
            text = f"What flows into {names_text(unknown)} is not told: no edge to it is recorded."
            yield line(Span(text, Style.WARNING))
        if any(updates_variable(node.op_type) for node in self.context.graph):
            yield line("Ways through a variable, which is written and read again, are not followed.")
        yield line(Span("`li -r` and `lo -r` show what each reads, and what reads it.", Style.HINT))

    def _open_ends(self) -> Sequence[str]:
        """The nodes before either of both into which something flows along an edge that is not recorded."""
        if isinstance(self.context.stop, RunStart):
            return ()
        run, graph = self.context.run, self.graph
        found = (open_ends(run, graph, node) for node in (self.end, self.start))
        return list(dict.fromkeys(name for names in found for name in names))

    def _head(self, way: Way) -> Iterator[Line]:
        yield line(
            Span("From ", Style.TITLE), self._node(way.nodes[0]), Span(" to ", Style.TITLE), self._node(way.nodes[-1])
        )
        others = way.around - len(way.nodes)
        more = f"; {count_text(others, 'more node')} on other ways between them" if others else ""
        yield line(Span(f"{count_text(len(way.edges), 'edge')} by the shortest way{more}", Style.DIM))
        if self.turned:
            yield line(Span("The value flows against the order in which you named them.", Style.HINT))
        yield from self.names.legend()

    def _node(self, node: Node) -> Span:
        return Span(node.name, Style.NAME, node_link(node.name))

    def _tensor(self, way: Way, i: int) -> TensorName:
        """What flows on from the i-th node; the last one's first output."""
        return way.edges[i].tensor if i < len(way.edges) else TensorName(way.nodes[i].name, 0)

    def _indices(self, way: Way) -> Sequence[int | None]:
        """The captured tensor of each row, its first execution; nothing at all where no values are there."""
        if isinstance(self.context.stop, RunStart):
            return ()
        names = [self._tensor(way, i) for i in range(len(way.nodes))]
        found = [self._store.named(name.node, name.slot) for name in names]
        return [indices[0] if len(indices) else None for indices in found]

    def _health(self) -> list[HealthCell]:
        return [cell for cell in health_cells(self.context) if cell[0] in _HEALTH] if len(self._store) else []

    def _columns(self) -> tuple[Column, ...]:
        health = [column for _, column, _ in self._health()]
        return (
            Column("", right=True),
            Column("Op type", drop=1),
            Column("Value", drop=2),
            *health,
            Column("Tensor", keep_end=True, subject=True),
        )

    def _row(self, way: Way, indices: Sequence[int | None], i: int) -> Row:
        node, index = way.nodes[i], indices[i] if indices else None
        name = self._tensor(way, i)
        link = node_link(node.name) if index is None else tensor_link(self._store, index)
        cells = [Span("") if index is None else cell(index) for _, _, cell in self._health()]
        return (
            Span(str(i), Style.DIM),
            Span(node.op_type, Style.OP, node_link(node.name)),
            self._value(index),
            *cells,
            Span(self.names.short(str(name)), Style.NAME, link),
        )

    def _value(self, index: int | None) -> Span:
        if index is None:
            return Span("" if isinstance(self.context.stop, RunStart) else "not captured", Style.DIM)
        tensor = self._store[index]
        return Span(f"{tensor.dtype}{shape_text(tensor.shape)}", Style.NUMBER)

    def _data(self) -> dict[str, Any]:
        way = self.way
        indices = [] if way is None else self._indices(way)
        return {
            "from": self.start.name,
            "to": self.end.name,
            "found": way is not None,
            "unknown": [] if way is not None else list(self._open_ends()),
            "turned": self.turned and way is not None,
            "between": 0 if way is None else way.around,
            "nodes": []
            if way is None
            else [
                {
                    "name": node.name,
                    "op_type": node.op_type,
                    "device": node.device,
                    "tensor": str(self._tensor(way, i)),
                    "summary": self._summary(indices[i] if indices else None),
                }
                for i, node in enumerate(way.nodes)
            ],
        }

    def _summary(self, index: int | None) -> Any:
        return None if index is None else summary_data(self.context.summary(index))


class _Counted:
    """Counts the tensors of the rows that have one."""

    def __init__(self, tensors: CountedLater, indices: Sequence[int | None]) -> None:
        self._tensors, self._indices = tensors, indices

    def missing(self, row: int) -> bool:
        index = self._indices[row]
        return index is not None and self._tensors.missing(index)

    def count(self, row: int) -> Iterator[None]:
        """Count the tensor of the row."""
        index = self._indices[row]
        return iter(()) if index is None else self._tensors.count(index)


COMMAND = Command(
    "path",
    (),
    "The shortest way along which a value got from one op to another.",
    _path,
    (
        Argument(("start",), "where it comes from: a node, or one of its tensors", ArgumentKind.NODE, metavar="FROM"),
        Argument(("end",), "where it gets to", ArgumentKind.NODE, metavar="TO"),
        DEVICE_ARGUMENT,
    ),
    section="Graph",
    graph=True,
    details="""\
Data flows along it, through called functions and from device to device; where it flows the other way only, that way
is shown. Each row is a tensor on it, with what is NaN or infinite in it.

Examples:
  path x loss
  path dense/MatMul gradients/dense/MatMul_grad/MatMul""",
)
