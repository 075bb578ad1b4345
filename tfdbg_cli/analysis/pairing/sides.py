"""One of two runs, made ready to be paired with the other: its nodes numbered, copies seen through."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdbg_cli.analysis.graph.nodes.neighbours import HIDDEN_OPS, neighbours_of
from tfdbg_cli.analysis.pairing.families import COMMUTATIVE, SEEN_THROUGH, SOURCE, family_of
from tfdbg_cli.model.dtypes import may_have_fractions
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.variables import SAVED_VARIABLE
from tfdbg_cli.ops.kinds import VARIABLE_READS

_LONGEST_CHAIN = 1000  # of copies
_SMALL = 64  # elements of an exact constant that says how the graph is built: axes, shapes


@dataclass(frozen=True, slots=True)
class PairedNode:
    """A node as the pairing sees it. `reads` are the places that it reads, each with its slot, without copies."""

    name: str
    family: str
    reads: tuple[tuple[int, int], ...]

    @property
    def commutes(self) -> bool:
        """Whether its inputs may change places."""
        return self.family in COMMUTATIVE and len(self.reads) == 2


class Side:
    """The places of one run, in the order of its graph, then those of tensors whose nodes no graph holds.

    A copy is no place of its own: `original` leads from it to what it is a copy of.
    """

    def __init__(self, graph: Graph, store: TensorStore, results: Sequence[str] = ()) -> None:
        self._graph = graph
        self._store = store
        self._neighbours = neighbours_of(graph)
        self._copies: dict[str, TensorName] = {}
        nodes = [*self._graph_nodes(), *self._loose_nodes()]
        known = {node.name for node in nodes}
        for name in [name for name in self._copies if not self._leads_somewhere(name, known)]:
            del self._copies[name]
        kept = [node for node in nodes if node.name not in self._copies]
        self.index = {node.name: i for i, node in enumerate(kept)}
        self.places: Sequence[PairedNode] = [
            PairedNode(node.name, family_of(node), self._reads(node)) for node in kept
        ]
        self._results = results

    @cached_property
    def readers(self) -> Sequence[Sequence[tuple[int, int, int]]]:
        """For each place who reads it: the reader, which of its inputs it is, and the slot read."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in self.places]
        for reader, place in enumerate(self.places):
            for position, (read, slot) in enumerate(place.reads):
                found[read].append((reader, 0 if place.commutes else position, slot))
        return found

    def original(self, name: str) -> TensorName:
        """The output that the node `name` is a copy of, or its own first one."""
        tensor = TensorName(name, 0)
        for _ in range(_LONGEST_CHAIN):
            if tensor.node not in self._copies:
                break
            tensor = self._copies[tensor.node]
        return tensor

    @cached_property
    def results(self) -> Sequence[int]:
        """The places of what the run gave to the program, as far as that is known, each once."""
        tensors = filter(None, map(parse_tensor_name, self._results))
        names = [self.original(tensor.node).node for tensor in tensors]
        return list(dict.fromkeys(self.index[name] for name in names if name in self.index))

    def is_constant(self, place: int) -> bool:
        """Whether it is a constant of the program."""
        node = self._graph.find(self.places[place].name)
        return node is not None and node.op_type == "Const"

    def is_saved(self, place: int) -> bool:
        """Whether it is a variable of a checkpoint, which stands by itself."""
        node = self._graph.find(self.places[place].name)
        return node is not None and node.op_type == SAVED_VARIABLE and not node.inputs and not self.readers[place]

    def called(self, place: int) -> str:
        """What the program calls a variable of a checkpoint; empty where that is not known."""
        node = self._graph.find(self.places[place].name)
        return node.attributes.get("full_name", "") if node is not None and self.is_saved(place) else ""

    @cached_property
    def variables(self) -> Mapping[int, str]:
        """By place, for those that read a variable, what that is called."""
        nodes = ((at, self._graph.find(place.name)) for at, place in enumerate(self.places))
        return {
            at: node.inputs[0].node for at, node in nodes if node and node.op_type in VARIABLE_READS and node.inputs
        }

    @cached_property
    def variable_names(self) -> Set[str]:
        """What the variables that are read are called."""
        return set(self.variables.values())

    def copies(self) -> Sequence[str]:
        """The names of the nodes that are copies, in the order of the graph."""
        return list(self._copies)

    def kind_of(self, copy: str) -> str:
        """What kind of numbers a copy gives: a cast to integers is no other way to a float. Empty if not known."""
        rows = self._store.named(copy, 0)
        dtype = self._store[rows[0]].dtype if rows else ""
        if dtype and may_have_fractions(dtype):
            return "complex" if dtype.startswith("complex") else "float"
        return "whole" if dtype.startswith(("int", "uint", "qint", "quint")) else dtype

    def transfers(self) -> Sequence[str]:
        """The names of the nodes that only move a tensor to another device, of those that show it."""
        return [name for name in self._store.nodes() if name not in self.index and name not in self._copies]

    def shape(self, place: int) -> tuple[int, ...] | None:
        """The shape of the first output, where it is known."""
        rows = self._store.named(self.places[place].name, 0)
        return self._store[rows[0]].shape if rows else None

    def structural(self, place: int) -> bytes:
        """What a small exact constant holds: it says how the graph is built, and is no number of the model."""
        name = self.places[place].name
        node = self._graph.find(name)
        rows = self._store.named(name, 0)
        if node is None or node.op_type != "Const" or not rows:
            return b""
        tensor = self._store[rows[0]]
        if not tensor.dtype.startswith(("int", "uint", "bool")) or (tensor.shape and np.prod(tensor.shape) > _SMALL):
            return b""
        value = self._store.value(rows[0])
        return b"" if isinstance(value, NoValue) else np.asarray(value, np.int64).tobytes()

    def _leads_somewhere(self, name: str, known: Container[str]) -> bool:
        """Whether the copy `name` is one of something: copies may go round in a circle."""
        original = self.original(name).node
        return original in known and original not in self._copies

    def _graph_nodes(self) -> list[Node]:
        found = []
        for name in self._graph.names():
            node = next((one for one in self._graph.all_named(name) if one.op_type not in HIDDEN_OPS), None)
            if node is None:
                continue
            found.append(node)
            if node.op_type in SEEN_THROUGH:
                reads = self._neighbours.inputs(node)
                if reads and reads[0].node is not None and reads[0].node.name != name:
                    self._copies[name] = reads[0].tensor
        return found

    def _loose_nodes(self) -> list[Node]:
        missing = [name for name in self._store.nodes() if name not in self._graph]
        types = {name: self._store[self._store.named(name)[0]].op_type for name in missing}
        return [Node(name, op_type, "") for name, op_type in types.items()]

    def _reads(self, node: Node) -> tuple[tuple[int, int], ...]:
        if family_of(node) == SOURCE:
            return ()
        found = []
        for edge in self._neighbours.inputs(node):
            tensor = self.original(edge.tensor.node) if edge.tensor.node in self._copies else edge.tensor
            if (place := self.index.get(tensor.node)) is not None:
                found.append((place, tensor.slot))
        return tuple(found)
