"""The graph of a run: nodes, where they ran, what they read and who reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property, wraps
from types import MappingProxyType
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName, did_you_mean

Made = TypeVar("Made")
GIVEN_BY = "_given_by"
"""An attribute of a function's argument in a run that begins before the call: the tensor that it was given.

The argument is an Identity there, which reads that tensor."""
LOOP_VARIABLE = "LoopVariable"
"""The op type of nodes that no program has: each shows a variable of a While loop, as the turns of it begin."""
GIVEN_BY_SET = "GivenBySet"
"""The op type of nodes that no program has: each holds what `set` gave an eager program (`given_by_set`)."""
_STEP = 500  # nodes that are indexed between two looks at the clock


class GraphKind(StrEnum):
    """Which graph a run shows."""

    RUNTIME = "runtime graph"  # after TensorFlow's optimizer, split over devices, with send and receive
    PYTHON = "Python graph"  # as the program built it


RUNTIME_GRAPH_SHOWN = (
    "This is the runtime graph: what TensorFlow ran after optimizing, so fused and folded ops are missing. "
    "`run --graph python` shows the program's own graph."
)
"""The note of a run of a session that shows it."""

_PARTS_OF_A_DEVICE = 5  # colons in /job:worker/replica:0/task:0/device:CPU:0


class Node(NamedTuple):
    """One operation. `attributes` are texts, ready to show; `device` is empty where it is not known.

    A named tuple, since a frozen dataclass takes four times as long to make, and graphs are large.
    """

    name: str
    op_type: str
    device: str
    inputs: tuple[TensorName, ...] = ()
    control_inputs: tuple[str, ...] = ()
    attributes: Mapping[str, str] = MappingProxyType({})

    def __hash__(self) -> int:
        return hash((self.name, self.op_type, self.device, self.inputs, self.control_inputs))

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the nodes that come before it: those that it reads, and those that it waits for."""
        return (*[tensor.node for tensor in self.inputs], *self.control_inputs)

    def within(self, scope: str) -> Node:
        """The node moved under `scope`, with all that it reads and waits for."""
        inputs = tuple(TensorName(f"{scope}/{tensor.node}", tensor.slot) for tensor in self.inputs)
        controls = tuple(f"{scope}/{name}" for name in self.control_inputs)
        return self._replace(name=f"{scope}/{self.name}", inputs=inputs, control_inputs=controls)

    @property
    def whole_device(self) -> str | None:
        """The device that tells its tensors from those of a namesake; None where that is not named in full.

        A program's graph holds what was asked for: `tf.device("/CPU:0")`, or for a function of Python a task alone.
        """
        whole = self.device.count(":") >= _PARTS_OF_A_DEVICE and "*" not in self.device
        return self.device if whole else None


class Graph:
    """Nodes by name and device. A name may stand once on each of several devices (send and receive nodes do).

    The reverse edges are made on first use; so are the nodes, where a function is given that makes them.
    """

    def __init__(
        self, nodes: Iterable[Node] | Callable[[], Iterable[Node]] = (), kind: GraphKind = GraphKind.RUNTIME
    ) -> None:
        self.kind = kind
        self._made_later = nodes if callable(nodes) else tuple
        if not callable(nodes):
            self._named = _Named(nodes)
        self._consumers: dict[str, list[tuple[Node, int]]] | None = None
        self._control_consumers: dict[str, list[Node]] = {}
        self._indexing: Iterator[None] | None = None

    @cached_property
    def _named(self) -> _Named:
        return _Named(self._made_later())

    @property
    def has_all_nodes(self) -> bool:
        """Whether all its nodes were made."""
        return "_named" in self.__dict__

    def __len__(self) -> int:
        return len(self._named.first) + sum(map(len, self._named.others.values()))

    def __iter__(self) -> Iterator[Node]:
        others = self._named.others
        for name, node in self._named.first.items():
            yield node
            if name in others:
                yield from others[name]

    def __contains__(self, name: str) -> bool:
        return name in self._named.first

    def names(self) -> Collection[str]:
        """Every node name, once, in graph order."""
        return self._named.first.keys()

    def op_types(self) -> Iterable[tuple[str, str]]:
        """Every node name, once, in graph order, with the type of that op, of several namesakes the first's."""
        return ((name, node.op_type) for name, node in self._named.first.items())

    def distinct_op_types(self) -> Set[str]:
        """Every op type that a node has."""
        return {node.op_type for node in self}

    def by_name(self) -> Mapping[str, Node]:
        """The first node of each name, in graph order."""
        return self._named.first

    def devices(self) -> list[str]:
        """Every device named by a node, sorted."""
        return sorted({node.device for node in self if node.device})

    def find(self, name: str, device: str | None = None) -> Node | None:
        """The node called `name` (on `device`, if given), or None."""
        node = self._named.first.get(name)
        if node is None or device is None or node.device == device:
            return node
        others = self._named.others.get(name, ())
        return next((other for other in others if other.device == device), None)

    def all_named(self, name: str) -> Sequence[Node]:
        """The nodes called `name`, one for each device that has one."""
        node = self._named.first.get(name)
        return () if node is None else (node, *self._named.others.get(name, ()))

    def node(self, name: str, device: str | None = None) -> Node:
        """The node called `name`.

        Raises:
            TfdbgError: there is none; the hint names the nearest.

        """
        found = self.find(name, device)
        if found is None:
            hint = did_you_mean(name, self.names()) or "`ln` lists the nodes."
            raise TfdbgError(f"There is no node {name!r} in this {self.kind}.", hint=hint)
        return found

    def consumers(self, name: str) -> list[tuple[Node, int]]:
        """Nodes that read an output of `name`, each with the slot it reads."""
        self._index()
        assert self._consumers is not None
        return self._consumers.get(name, [])

    def is_read(self, name: TensorName) -> bool:
        """Whether a node reads the output `name`."""
        return any(slot == name.slot for _, slot in self.consumers(name.node))

    def control_consumers(self, name: str) -> list[Node]:
        """Nodes that wait for `name` by a control edge."""
        self._index()
        return self._control_consumers.get(name, [])

    def index_in_steps(self) -> Iterator[None]:
        """Get ready to tell who reads what, some nodes at a time; what was done stays done if nobody goes on."""
        while self._consumers is None:
            self._indexing = self._indexing or self._indexed()
            next(self._indexing, None)
            yield
        self._indexing = None

    def _index(self) -> None:
        if self._consumers is None:
            for _ in self._indexed():  # not the one that is under way: that may be another thread's
                pass

    def _indexed(self) -> Iterator[None]:
        consumers: dict[str, list[tuple[Node, int]]] = {}
        control_consumers: dict[str, list[Node]] = {}
        for number, node in enumerate(self):
            if number % _STEP == _STEP - 1:
                yield
            for tensor in node.inputs if _from_nodes_apart(node) else dict.fromkeys(node.inputs):
                consumers.setdefault(tensor.node, []).append((node, tensor.slot))
            for name in node.control_inputs:
                control_consumers.setdefault(name, []).append(node)
        self._control_consumers = control_consumers
        self._consumers = consumers


def _from_nodes_apart(node: Node) -> bool:
    """Whether no two inputs of `node` come from one node, as nearly always: to hash tensors takes far longer."""
    return len({tensor.node for tensor in node.inputs}) == len(node.inputs)


class _Named:
    """Nodes by name: the `first` of each name, and the `others`, which are few."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.first: dict[str, Node] = {}
        self.others: dict[str, list[Node]] = {}
        for node in nodes:
            if self.first.setdefault(node.name, node) is not node:
                self.others.setdefault(node.name, []).append(node)


def once_per_graph(make: Callable[[Graph], Made]) -> Callable[[Graph], Made]:
    """`make` with a memory: what it made of a graph is kept as long as the graph is."""
    known: WeakKeyDictionary[Graph, Made] = WeakKeyDictionary()

    @wraps(make)
    def made(graph: Graph) -> Made:
        found = known.get(graph)
        if found is None:
            found = known[graph] = make(graph)
        return found

    return made
