"""Whether TensorFlow's optimizer made the same ops of a watched run as of a plain one, by the graphs that ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdbg_cli.capture.sessions.as_written import WRITTEN, program_source
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.types import GraphDef, NodeDef
from tfdbg_cli.ops.kinds import TRANSFERS

v1 = compat.v1

_ENDS = TRANSFERS | {"_Arg", "_Retval", "NoOp"}
_READ_THROUGH = frozenset({"Identity", "Const"})
_UNTOLD = _ENDS | _READ_THROUGH
# attributes without effect on results
_NOT_TOLD = frozenset({"_output_shapes", colocation.ATTRIBUTE, "shape_inference_graph"})

_TELLS_SIGNS = bool(v1.AttrValue(f=0.0) != v1.AttrValue(f=-0.0))


def other_ops(plain: GraphsThatRan, watched: GraphsThatRan) -> tuple[str, ...]:
    """The names of the ops of the plain run that the watched one lacks, or computes otherwise or of other inputs.

    What tfdbg added is left out, and so are ops that only hand on what they are given.
    """
    theirs, ours = _Ran(plain.metadata.partition_graphs), _Ran(watched.metadata.partition_graphs)
    computed = theirs.computed & ours.computed
    return tuple(name for name in theirs.telling() if not _is_same(name, theirs, ours, computed))


def _is_same(name: str, theirs: _Ran, ours: _Ran, computed: frozenset[str]) -> bool:
    """Whether the node of that name computes the same in both, of the same; `computed` are nodes that give their own.

    Those stand for themselves wherever they are read, so that nothing has to be followed back.
    """
    node, other = theirs.nodes[name], ours.nodes.get(name)
    if other is None:
        return False
    if _is_equal(node, other):  # nearly all are, and to find that out takes a fraction of the time
        return all(
            text in computed or text[:1] == "^" or text.partition(":")[0] in computed
            or theirs.source(text) == ours.source(text)
            for text in node.input
        )  # fmt: skip
    return theirs.tell(name) == ours.tell(name)


def _is_equal(node: NodeDef, other: NodeDef) -> bool:
    """Whether two definitions are equal, down to the signs of zeros, which older versions of protobuf do not tell."""
    equal = bool(node == other)
    if equal and not _TELLS_SIGNS:
        return bool(node.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True))
    return equal


class _Ran:
    """The nodes of the graphs that a run consisted of; `computed` names those that do not just hand something on."""

    def __init__(self, graphs: Iterable[GraphDef]) -> None:
        self.nodes = {node.name: node for graph in graphs for node in graph.node if PREFIX not in node.name}
        self._types = {name: node.op for name, node in self.nodes.items()}
        self.computed = frozenset(name for name, op_type in self._types.items() if op_type not in _READ_THROUGH)

    def telling(self) -> Iterator[str]:
        """The names of the nodes to compare; constants, and nodes that hand on, are compared at their readers.

        So are those in whose place others stand, since what they draw is fed.
        """
        told = (name for name, op_type in self._types.items() if op_type not in _UNTOLD)
        return (name for name in told if WRITTEN not in self.nodes[name].attr)

    def tell(self, name: str) -> tuple[object, ...]:
        """What the node of that name computes, and from what, in a form that can be compared."""
        node = self.nodes[name]
        attributes = {
            key: value.SerializeToString(deterministic=True)
            for key, value in node.attr.items()
            if key not in _NOT_TOLD
        }
        return node.op, node.device, attributes, [self.source(text) for text in node.input if text[:1] != "^"]

    def source(self, text: str) -> str | bytes:
        """What an input stands for, past nodes that only hand it on: a tensor's name, or the value of a constant."""
        seen = set()
        while True:
            node = self.nodes.get(text.partition(":")[0])
            if node is not None and node.op == "Const":
                value: bytes = node.attr["value"].SerializeToString(deterministic=True)
                return value
            if node is None or node.op != "Identity" or node.name in seen or node.input[0][:1] == "^":
                return program_source(text)
            seen.add(node.name)
            text = node.input[0]
