"""GraphDef to the graph of the model, without what TensorFlow's debugger put into it, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_nodes import ParsedNodes
from tfdbg_cli.model.graph import Graph, GraphKind, Node


@dataclass(frozen=True, slots=True)
class GraphPartition:
    """A partition of a graph on `device` (empty: as its nodes say): a GraphDef, as bytes and as a message."""

    device: str
    serialized: bytes
    graph: Any


class SavedGraph(Graph):
    """A graph made from GraphDefs, which it keeps: `parts` holds (device, serialized GraphDef).

    Its nodes are made when somebody asks for one, or for all. `added` are nodes that are in none of the parts.
    """

    def __init__(
        self,
        parsed: Callable[[], ParsedNodes],
        kind: GraphKind,
        parts: Sequence[tuple[str, bytes]],
        added: Sequence[Node] = (),
    ) -> None:
        super().__init__(lambda: (*self._parsed, *added), kind)
        self._parse = parsed
        self.parts = tuple(parts)
        self.added = tuple(added)

    @cached_property
    def _parsed(self) -> ParsedNodes:
        return self._parse()

    @property
    def _on_demand(self) -> bool:
        """Whether nodes are still made one by one."""
        return not self.added and not self.has_all_nodes

    def __len__(self) -> int:
        return len(self._parsed) if self._on_demand else super().__len__()

    def __contains__(self, name: str) -> bool:
        return name in self._parsed.names() if self._on_demand else super().__contains__(name)

    def names(self) -> Collection[str]:
        return self._parsed.names() if self._on_demand else super().names()

    def op_types(self) -> Iterable[tuple[str, str]]:
        return self._parsed.op_types() if self._on_demand else super().op_types()

    def distinct_op_types(self) -> Set[str]:
        return self._parsed.distinct_op_types() if self._on_demand else super().distinct_op_types()

    def devices(self) -> list[str]:
        return self._parsed.devices() if self._on_demand else super().devices()

    def find(self, name: str, device: str | None = None) -> Node | None:
        return self._parsed.find(name, device) if self._on_demand else super().find(name, device)

    def with_nodes(self, nodes: Sequence[Node]) -> SavedGraph:
        """The same graph with `nodes` added."""
        return SavedGraph(lambda: self._parsed, self.kind, self.parts, nodes) if nodes else self


def graph_from_def(serialized: bytes, kind: GraphKind) -> SavedGraph:
    """The graph in a serialized GraphDef; devices are those that its nodes name.

    Raises:
        ValueError: the bytes are no GraphDef.

    """
    return graph_from_parts([("", serialized)], kind)


def graph_from_parts(parts: Sequence[tuple[str, bytes]], kind: GraphKind) -> SavedGraph:
    """One graph of several partitions, each with its device (empty: as its nodes say).

    Send and receive nodes are joined: a `_Recv` reads the tensor that its `_Send` reads, on whatever device.
    Of nodes with one name on one device the first counts.

    Raises:
        ValueError: the bytes are no GraphDef.

    """
    return graph_of(
        [GraphPartition(device, serialized, parse_graph_def(serialized)) for device, serialized in parts], kind
    )


def graph_of(parts: Sequence[GraphPartition], kind: GraphKind) -> SavedGraph:
    """One graph of several partitions that were parsed, as `graph_from_parts` makes it."""
    protos = [(part.device, part.graph) for part in parts]
    return SavedGraph(lambda: ParsedNodes(protos), kind, [(part.device, part.serialized) for part in parts])


def parse_graph_def(serialized: bytes) -> Any:
    """The GraphDef message in `serialized`.

    Raises:
        ValueError: the bytes are no GraphDef.

    """
    try:
        return schema.GraphDef.FromString(serialized)
    except schema.DecodeError as error:
        raise ValueError("The bytes are no GraphDef.") from error


def graph_def_of(graph: Graph) -> bytes:
    """A serialized GraphDef of `graph`: the one it was made from, or one whose attributes are the texts.

    A text attribute is kept as a `placeholder`, so that it comes back as it was.
    """
    if isinstance(graph, SavedGraph) and len(graph.parts) == 1:
        return graph.parts[0][1]
    result = schema.GraphDef()
    result.node.extend(map(_proto_of, graph))
    serialized: bytes = result.SerializeToString()
    return serialized


def partition_def(graph: Graph, names: Set[str], device: str) -> bytes:
    """A serialized GraphDef of those nodes of `graph` that are in `names`, as a partition on `device`."""
    result = schema.GraphDef()
    if isinstance(graph, SavedGraph) and graph.parts:
        for _, serialized in graph.parts:
            result.node.extend(proto for proto in parse_graph_def(serialized).node if proto.name in names)
    else:
        result.node.extend(_proto_of(node) for node in graph if node.name in names)
    for proto in result.node:
        proto.device = device
    partition: bytes = result.SerializeToString()
    return partition


def _proto_of(node: Node) -> Any:
    proto = schema.NodeDef(name=node.name, op=node.op_type, device=node.device)
    proto.input.extend(name.node if name.slot == 0 else str(name) for name in node.inputs)
    proto.input.extend(f"^{name}" for name in node.control_inputs)
    for name, text in node.attributes.items():
        proto.attr[name].placeholder = text
    return proto
