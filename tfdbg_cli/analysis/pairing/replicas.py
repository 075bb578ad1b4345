"""The replicas of one run as runs of their own, of which each has what it computed, and what is there for all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.graph.nodes.membership import Membership
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.tensor_pairs import TensorPairs, paired_tensors
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import FoundByNode, Tensor, TensorStore
from tfdbg_cli.model.values import Value


@dataclass(frozen=True)
class Replica:
    """A replica of a run as a run, and the names of those of its nodes that belong to all of them."""

    run: Run
    common: Collection[str]


def replica_of(run: Run, membership: Membership, number: int) -> Replica:
    """What belongs to one replica of `run`, under the names that it has there, and what belongs to all."""
    store = run.tensors
    rows = [row for row in range(len(store)) if membership.is_part_of(store[row].node, number)]
    nodes = [node for node in run.graph if membership.is_part_of(node.name, number)]
    named = f"{run.call.worker}, replica {number}" if run.call.worker else f"replica {number}"
    part = replace(
        run,
        call=replace(run.call, worker=named),
        tensors=PartOfStore(store, rows),
        graph=Graph(nodes, run.graph.kind),
    )
    return Replica(part, {node.name for node in nodes if node.name not in membership.replica})


def paired_replicas(first: Replica, second: Replica, membership: Membership, renames: Renames) -> TensorPairs:
    """The tensors of two replicas of one run, paired as if both bore the names of the first replica of all."""
    sides = [_as_first(one, membership) for one in (first, second)]
    pairs = paired_tensors(sides[0].run, sides[1].run, renames)
    nodes = [(sides[0].own_name(one), sides[1].own_name(two)) for one, two in pairs.nodes]
    return replace(pairs, nodes=nodes)


@dataclass(frozen=True)
class _AsFirst:
    """A replica under the names of the first one; its rows are those that it has under its own."""

    run: Run
    own_name: Callable[[str], str]


def _as_first(replica: Replica, membership: Membership) -> _AsFirst:
    run = replica.run
    names: dict[str, str] = {}
    for name in (*run.graph.names(), *run.tensors.nodes()):
        names.setdefault(name, membership.counterparts.get(name, name))
    taken: dict[str, str] = {}
    for name, called in names.items():
        if taken.setdefault(called, name) != name:  # two of one name: the other one keeps its own
            names[name] = name
            taken[name] = name

    def renamed(tensor: TensorName) -> TensorName:
        return TensorName(names[tensor.node], tensor.slot)

    def node(one: Node) -> Node:
        # What is computed for all of them reads all of them: that says nothing of where it stands in one.
        known = replica.common if one.name in replica.common else names
        inputs = tuple(renamed(tensor) for tensor in one.inputs if tensor.node in known)
        controls = tuple(names[control] for control in one.control_inputs if control in known)
        return one._replace(name=names[one.name], inputs=inputs, control_inputs=controls)

    fetched = [parsed for text in run.call.fetches if (parsed := parse_tensor_name(text)) is not None]
    fetches = tuple(str(renamed(tensor)) for tensor in fetched if tensor.node in names)
    as_first = replace(
        run,
        call=replace(run.call, fetches=fetches),
        tensors=_Renamed(run.tensors, names.__getitem__),
        graph=Graph([node(one) for one in run.graph], run.graph.kind),
    )
    return _AsFirst(as_first, taken.__getitem__)


class _Renamed(FoundByNode):
    """The tensors of `store`, whose nodes go by other names."""

    def __init__(self, store: TensorStore, name: Callable[[str], str]) -> None:
        super().__init__(TensorName(name(store[row].node), store[row].slot) for row in range(len(store)))
        self._store = store
        self._name = name

    def __len__(self) -> int:
        return len(self._store)

    def __getitem__(self, index: int) -> Tensor:
        tensor = self._store[index]
        return replace(tensor, name=TensorName(self._name(tensor.node), tensor.slot))

    def value(self, index: int) -> Value:
        return self._store.value(index)
