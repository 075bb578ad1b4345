"""The nodes of partition graphs as they were parsed: each becomes one of the model when somebody asks for it.

To open a recording few of very many nodes are wanted, and their names and op types are at hand without making them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.whole_numbers import whole_number
from tfdbg_cli.ops.kinds import DEBUG_COPIES, RECEIVES, SENDS

_COPY, _DEBUG = "__copy_", "__dbg_"
_COPIES_OF_COPIES = 4  # one would be strange, a circle of them is damage


class ParsedNodes:
    """The nodes of several GraphDefs, each with its device (empty: as its nodes say), without those of the debugger.

    Send and receive nodes are joined: a `_Recv` reads the tensor that its `_Send` reads, on whatever device.
    Of nodes with one name on one device the first counts.
    """

    def __init__(self, parts: Sequence[tuple[str, Any]]) -> None:
        self._parts: list[_Part] = []
        self._protos: list[Any] = []
        names: list[str] = []
        for device, graph in parts:
            part = _Part(device, graph, len(self._protos))
            self._parts.append(part)
            self._protos += part.protos
            names += part.names
        self._made: dict[int, Node] = {}  # so that there is one of each: who has a node may ask whether it is another
        self._first = dict(zip(names, range(len(names)), strict=True))  # of namesakes, which are few, the last
        self._others: dict[str, list[int]] = {}  # of the same name on other devices
        if len(self._first) != len(names):
            self._tell_namesakes_apart(names)

    def _tell_namesakes_apart(self, names: Sequence[str]) -> None:
        self._first = {}
        for at, name in enumerate(names):
            known = self._first.setdefault(name, at)
            if known != at:
                others = self._others.setdefault(name, [])
                if self._device(at) not in map(self._device, (known, *others)):
                    others.append(at)

    def _part(self, at: int) -> _Part:
        return next(part for part in reversed(self._parts) if part.begin <= at)

    def _device(self, at: int) -> str:
        return self._part(at).device or str(self._protos[at].device)

    def names(self) -> KeysView[str]:
        """Every node name, once, in graph order."""
        return self._first.keys()

    def op_types(self) -> Iterable[tuple[str, str]]:
        """Name and op type of the first node of each name."""
        return self._op_types

    @cached_property
    def _op_types(self) -> Sequence[tuple[str, str]]:
        protos = self._protos
        if len(protos) != len(self._first):
            protos = [protos[at] for at in self._first.values()]
        return list(zip(self._first, [proto.op for proto in protos], strict=True))

    def distinct_op_types(self) -> Set[str]:
        """Every op type that a node has."""
        return self._distinct_op_types

    @cached_property
    def _distinct_op_types(self) -> Set[str]:
        return frozenset([proto.op for proto in self._protos])

    def devices(self) -> list[str]:
        """Every device named by a node, sorted."""
        told = {part.device for part in self._parts if part.device and part.protos}
        untold = (proto.device for part in self._parts if not part.device for proto in part.protos)
        return sorted(told.union(untold) - {""})

    def find(self, name: str, device: str | None) -> Node | None:
        """The node called `name` (on `device`, if given), or None."""
        at = self._first.get(name)
        if at is None:
            return None
        node = self._node(at)
        if device is None or node.device == device:
            return node
        other = next((one for one in self._others.get(name, ()) if self._device(one) == device), None)
        return None if other is None else self._node(other)

    def __len__(self) -> int:
        return len(self._first) + sum(map(len, self._others.values()))

    def __iter__(self) -> Iterator[Node]:
        made = self._made
        for at in self._all():
            yield made.get(at) or self._new_node(at)

    def _all(self) -> Iterator[int]:
        for name, at in self._first.items():
            yield at
            yield from self._others.get(name, ())

    def _node(self, at: int) -> Node:
        found = self._made.get(at)
        if found is None:
            found = self._made[at] = self._new_node(at)
        return found

    def _new_node(self, at: int) -> Node:
        part, proto = self._part(at), self._protos[at]
        op_type = proto.op
        texts, controls = plain_inputs(proto, part.debug)
        inputs = tuple([TensorName(text, 0) if ":" not in text else tensor_name(text) for text in texts])
        if op_type in RECEIVES:
            sent = self._sent.get(rendezvous(proto))
            inputs = inputs if sent is None else (sent,)
        return Node(proto.name, op_type, part.device or proto.device, inputs, tuple(controls), AttributeTexts(proto))

    @cached_property
    def _sent(self) -> Mapping[tuple[bytes, ...], TensorName]:
        """The tensors that Send ops send, by the key that they have in common with their Recv ops."""
        found: dict[tuple[bytes, ...], TensorName] = {}
        for at in self._all():
            proto = self._protos[at]
            if proto.op in SENDS:
                texts, _ = plain_inputs(proto, self._part(at).debug)
                found |= {rendezvous(proto): tensor_name(text) for text in texts[:1]}
        return found


class _Part:
    """One GraphDef: its nodes, without those of the debugger. The first is the one at `begin` among those of all."""

    def __init__(self, device: str, graph: Any, begin: int) -> None:
        self.device = device
        self.begin = begin
        self.protos = list(graph.node)
        self.names: list[str] = [proto.name for proto in self.protos]
        self.debug = _debug_nodes(self.protos, self.names)
        if self.debug:
            self.protos = [proto for proto in self.protos if proto.name not in self.debug]
            self.names = [proto.name for proto in self.protos]


def rendezvous(proto: Any) -> tuple[bytes, ...]:
    """What a send and its receive have in common (the rendezvous key of TensorFlow)."""
    return tuple(proto.attr[name].s for name in ("tensor_name", "send_device", "recv_device") if name in proto.attr)


def is_debug_node(proto: Any) -> bool:
    """Whether a NodeDef was put in by TensorFlow's debugger."""
    name: str = proto.name
    return (name.startswith(_COPY) and proto.op in DEBUG_COPIES) or (
        name.startswith(_DEBUG) and proto.op.startswith("Debug")
    )


def debug_nodes(graph: Any) -> dict[str, str]:
    """The nodes of a GraphDef that TensorFlow's debugger put in, each with what it reads (empty: nothing)."""
    return _debug_nodes(graph.node, [proto.name for proto in graph.node])


def _debug_nodes(protos: Iterable[Any], names: Iterable[str]) -> dict[str, str]:
    joined = "\n".join(names)
    if not joined.startswith("__") and "\n__" not in joined:  # one look takes less than a look at each of very many
        return {}
    return {proto.name: proto.input[0] if proto.input else "" for proto in protos if is_debug_node(proto)}


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
    node, _, end = text.rpartition(":")
    slot = whole_number(end)
    return TensorName(text, 0) if slot is None else TensorName(node, slot)
