"""GraphDef to the graph of the model, without what TensorFlow's debugger put into it, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import DEBUG_COPIES, RECEIVES, SENDS

_COPY, _DEBUG = "__copy_", "__dbg_"
_COPIES_OF_COPIES = 4  # one would be strange, a circle of them is damage


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of a graph on `device` (empty: as its nodes say): a GraphDef, as bytes and as a message."""

    device: str
    serialized: bytes
    graph: Any


class SavedGraph(Graph):
    """A graph made from GraphDefs, which it keeps: `parts` holds (device, serialized GraphDef).

    `nodes` makes its nodes when somebody asks for one. `added` are nodes that are in none of the parts.
    """

    def __init__(
        self,
        nodes: Callable[[], Iterable[Node]],
        kind: GraphKind,
        parts: Sequence[tuple[str, bytes]],
        added: Sequence[Node] = (),
    ) -> None:
        super().__init__(lambda: (*nodes(), *added), kind)
        self.parts = tuple(parts)
        self.added = tuple(added)

    def with_nodes(self, nodes: Sequence[Node]) -> SavedGraph:
        """The same graph with `nodes` added."""
        return SavedGraph(lambda: self, self.kind, self.parts, nodes) if nodes else self


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
    return graph_of([Part(device, serialized, parse_graph_def(serialized)) for device, serialized in parts], kind)


def graph_of(parts: Sequence[Part], kind: GraphKind) -> SavedGraph:
    """One graph of several partitions that were parsed, as `graph_from_parts` makes it."""
    protos = [(part.device, part.graph) for part in parts]
    return SavedGraph(lambda: _joined(protos), kind, [(part.device, part.serialized) for part in parts])


def _joined(parts: Sequence[tuple[str, Any]]) -> Collection[Node]:
    """The nodes of the GraphDefs in `parts`, each with its device."""
    nodes: list[Node] = []
    first: dict[str, Node] = {}
    others: set[tuple[str, str]] = set()  # nodes that are not the first of their name, which are few
    sent: dict[tuple[bytes, ...], TensorName] = {}
    receiving: list[tuple[int, tuple[bytes, ...]]] = []
    for device, graph in parts:
        for node, proto in _nodes(graph, device):
            namesake = first.setdefault(node.name, node)
            if namesake is not node:
                key = (node.name, node.device)
                if namesake.device == node.device or key in others:
                    continue
                others.add(key)
            nodes.append(node)
            if node.op_type in SENDS and node.inputs:
                sent[rendezvous(proto)] = node.inputs[0]
            elif node.op_type in RECEIVES:
                receiving.append((len(nodes) - 1, rendezvous(proto)))
    for place, channel in receiving:
        if channel in sent:
            nodes[place] = nodes[place]._replace(inputs=(sent[channel],))
    return nodes


def parse_graph_def(serialized: bytes) -> Any:
    """The GraphDef message in `serialized`.

    Raises:
        ValueError: the bytes are no GraphDef.

    """
    try:
        return schema.GraphDef.FromString(serialized)
    except schema.DecodeError as error:
        raise ValueError("The bytes are no GraphDef.") from error


def rendezvous(proto: Any) -> tuple[bytes, ...]:
    """What a send and its receive have in common (the rendezvous key of TensorFlow)."""
    return tuple(proto.attr[name].s for name in ("tensor_name", "send_device", "recv_device") if name in proto.attr)


def is_debug_node(proto: Any) -> bool:
    """Whether a NodeDef was put in by TensorFlow's debugger."""
    name: str = proto.name
    return (name.startswith(_COPY) and proto.op in DEBUG_COPIES) or (
        name.startswith(_DEBUG) and proto.op.startswith("Debug")
    )


def _nodes(graph: Any, device: str) -> Iterator[tuple[Node, Any]]:
    debug = debug_nodes(graph)
    for proto in graph.node:
        name = proto.name
        if name in debug:
            continue
        texts, controls = plain_inputs(proto, debug)
        inputs = tuple([TensorName(text, 0) if ":" not in text else tensor_name(text) for text in texts])
        yield Node(name, proto.op, device or proto.device, inputs, tuple(controls), AttributeTexts(proto)), proto


def debug_nodes(graph: Any) -> dict[str, str]:
    """The nodes of a GraphDef that TensorFlow's debugger put in, each with what it reads (empty: nothing)."""
    return {
        proto.name: proto.input[0] if proto.input else ""
        for proto in graph.node
        if proto.name.startswith("__") and is_debug_node(proto)
    }


def plain_inputs(proto: Any, debug: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What a NodeDef reads, as GraphDef writes it, and the names of the nodes that it waits for, each once.

    The nodes `debug` of the debugger are left out: who reads the copy of a tensor reads the tensor.
    """
    texts = list(proto.input)
    if not debug and "^" not in "".join(texts):  # as in nearly all nodes of nearly all graphs
        return texts, []
    inputs: list[str] = []
    controls: dict[str, None] = {}
    for text in texts:
        if text[:1] != "^":
            inputs.append(_behind_copies(text, debug) if debug else text)
        elif text[1:] not in debug:
            controls[text[1:]] = None
        elif text.startswith(f"^{_COPY}"):
            controls[tensor_name(_behind_copies(text[1:], debug)).node] = None
    return inputs, list(controls)


def _behind_copies(text: str, debug: Mapping[str, str]) -> str:
    """The tensor that the debugger's copy of it is read for."""
    for _ in range(_COPIES_OF_COPIES):
        text_behind = debug.get(text.partition(":")[0])
        if not text_behind:
            break
        text = text_behind
    return text


def tensor_name(text: str) -> TensorName:
    """The tensor that an input of a NodeDef means: `node` is its first output."""
    if ":" not in text:  # most are first outputs, and graphs are large
        return TensorName(text, 0)
    node, _, slot = text.rpartition(":")
    return TensorName(node, int(slot)) if slot.isdecimal() else TensorName(text, 0)


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
