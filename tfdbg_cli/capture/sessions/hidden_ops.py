"""Ops that tfdbg adds to a graph of the program, and that the program does not see.

The graph neither lists nor exports nor saves them, nor the functions that they call, and they take no name that the
program could want. What still shows them is `graph.version`, and `consumers()` of a tensor that they read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tfdbg_cli.capture.functions.definition.own_names import has_new_name
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.attributes import set_attribute
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.second_thread import apart
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef, Op, SymbolicTensor, TfGraph

v1 = compat.v1

PREFIX = "tfdbg_cli.hidden/"
_BEHIND = "."  # a prefix that sorts before any name that a program is likely to give to an op (see `NewOp`)


Key = TypeVar("Key", bound=Hashable)
# What an op reads: a tensor of the graph, or an output of a node that is added with it, as `name` or `name:slot`.
Operand: TypeAlias = "SymbolicTensor | str"


class NewOp(NamedTuple):
    """An op to be added. It waits for `after`: ops of the graph, or nodes that are added with it, by name.

    Attributes are what `set_attribute` takes. An op that is `behind` can be fetched without changing the order of the
    program's ops: TensorFlow's optimizer orders nodes by walking back from the fetches, the first by name last. So by
    its name it comes to this op after all others.
    """

    op_type: str
    inputs: Sequence[Operand] = ()
    attributes: Mapping[str, object] = MappingProxyType({})
    after: Sequence[Op | str] = ()
    device: str = ""
    behind: bool = False


class HiddenOps:
    """The hidden ops of one graph. Safe to use from several threads."""

    def __init__(self, graph: TfGraph) -> None:
        self._graph = graph
        self._count = 0
        self._lock = threading.RLock()
        self._known: dict[Hashable, Op] = {}
        self._coming: dict[Hashable, str] = {}  # by key, the names of ops that `once` is about to add
        self._numbers: dict[Hashable, int] = {}

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    def number_of(self, thing: Hashable) -> int:
        """A number that stands for `thing` in keys of `once`, since hashing the thing itself each time is slow."""
        with self._lock:
            return self._numbers.setdefault(thing, len(self._numbers))

    def once(self, wanted: Mapping[Key, Callable[[int], Sequence[NewOp]]]) -> list[Op]:
        """For each key the last op that its maker made, in order. A maker is called only for a key that is new.

        It is called with the position of its first op among those that are added, for `name_of`. It may read what the
        makers before it made (`answer`).
        """
        with self._lock:
            new: list[NewOp] = []
            ends: dict[Hashable, int] = {}
            try:
                for key, make in wanted.items():
                    if key not in self._known:
                        new.extend(make(len(new)))
                        ends[key] = len(new) - 1
                        self._coming[key] = self.name_of(len(new) - 1)
                made = self.add(new)
            finally:
                self._coming.clear()
            self._known.update((key, made[end]) for key, end in ends.items())
            return [self._known[key] for key in wanted]

    def answer(self, key: Hashable) -> Operand:
        """How an op that is made now reads the op of `key`: that is there, or is added with it, and not `behind`."""
        coming = self._coming.get(key)
        return self._known[key].outputs[0] if coming is None else coming

    def add(self, new: Sequence[NewOp], functions: Iterable[FunctionDef] = ()) -> list[Op]:
        """Add ops, which may read each other by `name_of`, and the functions that they call; gives the ops.

        The functions must be named as rewritten ones are.

        Raises:
            tf.errors.OpError: TensorFlow does not take one of them; none is added.

        """
        with self._lock:
            if not new:
                return []
            definition = v1.GraphDef()
            definition.versions.CopyFrom(self._graph.graph_def_versions)
            definition.library.function.extend(functions)
            inputs: dict[str, SymbolicTensor] = {}
            controls: dict[str, Op] = {}
            names = [f"{_BEHIND if op.behind else ''}{self.name_of(at)}" for at, op in enumerate(new)]
            alike: dict[tuple[str, int], NodeDef] = {}  # NodeDefs without inputs, by op type and id of the attributes
            for at, op in enumerate(new):
                kind = (op.op_type, id(op.attributes))
                known = alike.get(kind)
                if known is None:
                    known = alike[kind] = _without_inputs(op)
                node = definition.node.add()
                node.CopyFrom(known)
                node.name = names[at]
                node.device = op.device
                node.input.extend([_named(operand, "in", inputs) for operand in op.inputs])
                if op.after:
                    node.input.extend([f"^{_named(waited, 'after', controls)}" for waited in op.after])
            if not self._count:
                compat.hide_ops(self._graph, is_hidden)

            def put() -> list[Op]:
                made = compat.add_hidden_ops(self._graph, definition, inputs, controls)
                self._count += len(new)
                return made

            return apart(put)  # TensorFlow has sessions wait meanwhile: those of a signal handler of ours, too

    def name_of(self, at: int) -> str:
        """The name that the op at position `at` among those added next will have."""
        return f"{PREFIX}{self._count + at}"


_HIDDEN = Memo(HiddenOps)


def is_hidden(name: str) -> bool:
    """Whether the op or the function of that name is one of ours."""
    return name.removeprefix(_BEHIND).startswith(PREFIX) or has_new_name(name)


def hidden_ops(graph: TfGraph) -> HiddenOps:
    """The hidden ops of `graph`."""
    return _HIDDEN.of(graph)


def program_version(graph: TfGraph) -> int:
    """`graph.version` as if tfdbg had added nothing: it changes when the program adds ops."""
    hidden = _HIDDEN.known(graph)
    version: int = graph.version
    return version if hidden is None else version - hidden.count


def _without_inputs(op: NewOp) -> NodeDef:
    node = v1.NodeDef(op=op.op_type)
    for name, value in op.attributes.items():
        set_attribute(node.attr[name], value)
    return node


def _named(given: Operand | Op, kind: str, known: dict[str, Any]) -> str:
    """The name by which an added node refers to `given`; an element of the graph is put into `known` under it."""
    if isinstance(given, str):
        return given
    name = f"{PREFIX}{kind}.{len(known)}"
    known[name] = given
    return name
