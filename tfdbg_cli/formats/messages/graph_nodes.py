"""The nodes of partition graphs as they were parsed: each becomes one of the model when somebody asks for it.

To open a recording few of very many nodes are wanted, and their names and op types are at hand without making them.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import DEBUG_COPIES, RECEIVES, SENDS

_COPY, _DEBUG = "__copy_", "__dbg_"
_COPIES_OF_COPIES = 4  # one would be strange, a circle of them is damage


class _Parsed(NamedTuple):
    """A NodeDef in the part at `place`."""

    place: int
    proto: Any


class ParsedNodes:
    """The nodes of several GraphDefs, each with its device (empty: as its nodes say), without those of the debugger.

    Send and receive nodes are joined: a `_Recv` reads the tensor that its `_Send` reads, on whatever device.
    Of nodes with one name on one device the first counts.
    """

    def __init__(self, parts: Sequence[tuple[str, Any]]) -> None:
        self._devices = [device for device, _ in parts]
        self._debug = [debug_nodes(graph) for _, graph in parts]
        self._first: dict[str, _Parsed] = {}
        self._others: dict[str, list[_Parsed]] = {}  # of the same name on other devices, which are few
        self._made: dict[str, Node] = {}
        first = self._first
        for place, (_, graph) in enumerate(parts):
            debug = self._debug[place]
            for proto in graph.node:
                name = proto.name
                if name not in debug:
                    found = _Parsed(place, proto)
                    known = first.setdefault(name, found)
                    if known is not found:
                        self._add(name, known, found)

    def _add(self, name: str, known: _Parsed, found: _Parsed) -> None:
        others = self._others.setdefault(name, [])
        if self._device(found) not in map(self._device, (known, *others)):
            others.append(found)

    def _device(self, parsed: _Parsed) -> str:
        return self._devices[parsed.place] or str(parsed.proto.device)

    def names(self) -> KeysView[str]:
        """Every node name, once, in graph order."""
        return self._first.keys()

    def op_types(self) -> Iterator[tuple[str, str]]:
        """Name and op type of the first node of each name."""
        return ((name, parsed.proto.op) for name, parsed in self._first.items())

    def devices(self) -> list[str]:
        """Every device named by a node, sorted."""
        more = chain.from_iterable(self._others.values())
        return sorted({device for parsed in chain(self._first.values(), more) if (device := self._device(parsed))})

    def find(self, name: str, device: str | None) -> Node | None:
        """The node called `name` (on `device`, if given), or None."""
        node = self._made.get(name)
        if node is None:
            parsed = self._first.get(name)
            if parsed is None:
                return None
            node = self._made[name] = self._node(parsed)
        if device is None or node.device == device:
            return node
        return next((self._node(one) for one in self._others.get(name, ()) if self._device(one) == device), None)

    def __len__(self) -> int:
        return len(self._first) + sum(map(len, self._others.values()))

    def __iter__(self) -> Iterator[Node]:
        for name, parsed in self._first.items():
            yield self._node(parsed)
            for other in self._others.get(name, ()):
                yield self._node(other)

    def _node(self, parsed: _Parsed) -> Node:
        place, proto = parsed
        op_type = proto.op
        texts, controls = plain_inputs(proto, self._debug[place])
        inputs = tuple([TensorName(text, 0) if ":" not in text else tensor_name(text) for text in texts])
        if op_type in RECEIVES:
            sent = self._sent.get(rendezvous(proto))
            inputs = inputs if sent is None else (sent,)
        device = self._devices[place] or proto.device
        return Node(proto.name, op_type, device, inputs, tuple(controls), AttributeTexts(proto))

    @cached_property
    def _sent(self) -> Mapping[tuple[bytes, ...], TensorName]:
        """What the sends send, by what tells their receives."""
        found: dict[tuple[bytes, ...], TensorName] = {}
        for name, first in self._first.items():
            for place, proto in (first, *self._others.get(name, ())):
                if proto.op in SENDS:
                    texts, _ = plain_inputs(proto, self._debug[place])
                    found |= {rendezvous(proto): tensor_name(text) for text in texts[:1]}
        return found


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
    names = "\n".join([proto.name for proto in graph.node])
    if not names.startswith("__") and "\n__" not in names:  # one look takes less than a look at each of very many
        return {}
    return {proto.name: proto.input[0] if proto.input else "" for proto in graph.node if is_debug_node(proto)}


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
