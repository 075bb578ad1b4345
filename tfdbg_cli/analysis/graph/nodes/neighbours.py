"""Who a node reads and who reads it, with transfers between devices seen through."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import ref

from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import RECEIVES, SENDS, TRANSFERS

# What TensorFlow's runtime puts between the nodes of a program: it moves values, it computes none.
HIDDEN_OPS = TRANSFERS | {"_Retval"}


@dataclass(frozen=True, slots=True)
class Edge:
    """A data edge: the tensor that flows and the node at the far end (None: the graph does not hold it).

    `moved` says that a send and a receive between devices were seen through.
    """

    tensor: TensorName
    node: Node | None
    moved: bool = False


class Neighbours:
    """The edges of one graph. Reads of one node cost its own edges; an index is made on first use."""

    def __init__(self, graph: Graph) -> None:
        self._held = ref(graph)  # the graph's own edges must not keep it alive
        self._senders: dict[tuple[str, ...], Node] | None = None
        self._receivers: dict[tuple[str, ...], list[Node]] = {}

    def inputs(self, node: Node) -> list[Edge]:
        """The tensors `node` reads, in the order of its inputs, each with the node that made it.

        A receive reads what was sent to it.
        """
        if node.op_type in RECEIVES:
            edge = self._source(TensorName(node.name, 0), node)
            return [] if edge.node is node else [edge]
        return [self._source(tensor, node) for tensor in node.inputs]

    def outputs(self, node: Node) -> list[Edge]:
        """The nodes that read an output of `node`; the tensor of an edge is the output of `node` it reads."""
        edges: dict[tuple[str, str, int], Edge] = {}
        for reader, slot in self._graph.consumers(node.name):
            tensor = TensorName(node.name, slot)
            if self._maker(tensor, reader) is not node:
                continue
            for edge in self._readers(tensor, reader):
                assert edge.node is not None
                edges.setdefault((edge.node.name, edge.node.device, slot), edge)
        return list(edges.values())

    def control_inputs(self, node: Node) -> list[str]:
        """Names of the nodes that `node` waits for."""
        return [name for name in node.control_inputs if not self._hides(self._graph.find(name, node.device or None))]

    def control_outputs(self, node: Node) -> list[Node]:
        """Nodes that wait for `node`."""
        waiting = self._graph.control_consumers(node.name)
        return [n for n in waiting if not self._hides(n) and self._local(node.name, n) is node]

    @property
    def _graph(self) -> Graph:
        graph = self._held()
        if graph is None:
            raise ReferenceError("the graph of these edges is gone")
        return graph

    def _hides(self, node: Node | None) -> bool:
        return node is not None and node.op_type in HIDDEN_OPS

    def _local(self, name: str, reader: Node) -> Node | None:
        """The node `name` as `reader` sees it: a name may stand on several devices, each with its own."""
        return self._graph.find(name, reader.device) or self._graph.find(name)

    def _maker(self, tensor: TensorName, reader: Node) -> Node | None:
        return self._local(tensor.node, reader)

    def _source(self, tensor: TensorName, reader: Node) -> Edge:
        maker = self._maker(tensor, reader)
        moved = False
        met: set[int] = set()
        while maker is not None and maker.op_type in RECEIVES and id(maker) not in met:
            met.add(id(maker))
            sender = self._senders_by_key().get(_rendezvous(maker))
            if sender is None or not sender.inputs:
                break
            moved = True
            tensor = sender.inputs[0]
            maker = self._maker(tensor, sender)
        return Edge(tensor, maker, moved)

    def _readers(self, tensor: TensorName, reader: Node) -> list[Edge]:
        """`reader` itself, or who reads what it sends to another device, or nobody behind a `_Retval`."""
        if reader.op_type not in HIDDEN_OPS:
            return [Edge(tensor, reader)]
        self._senders_by_key()
        found: list[Edge] = []
        for receiver in self._receivers.get(_rendezvous(reader), ()) if reader.op_type in SENDS else ():
            for final, _ in self._graph.consumers(receiver.name):
                if self._local(receiver.name, final) is receiver and not self._hides(final):
                    found.append(Edge(tensor, final, moved=True))
        return found

    def _senders_by_key(self) -> dict[tuple[str, ...], Node]:
        if self._senders is None:
            self._senders = {}
            for node in self._graph:
                if node.op_type in SENDS:
                    self._senders[_rendezvous(node)] = node
                elif node.op_type in RECEIVES:
                    self._receivers.setdefault(_rendezvous(node), []).append(node)
        return self._senders


def _rendezvous(node: Node) -> tuple[str, ...]:
    """What a send and its receive share (attributes of `_Send` and `_Recv` in TensorFlow's sendrecv_ops)."""
    return tuple(node.attributes.get(name, "") for name in ("tensor_name", "send_device", "recv_device"))


@once_per_graph
def neighbours_of(graph: Graph) -> Neighbours:
    """The edges of `graph`, their index kept as long as the graph is."""
    return Neighbours(graph)
