"""Whether TensorFlow's optimizer made the same ops of a watched run as of a plain one, by the graphs that ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tfdbg_cli.capture.sessions.as_written import program_source
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import GraphDef
from tfdbg_cli.model.exactness import Parting
from tfdbg_cli.ops.kinds import TRANSFERS

v1 = compat.v1

_ENDS = TRANSFERS | {"_Arg", "_Retval", "NoOp"}
_NOT_TOLD = frozenset({"_output_shapes", "_class", "shape_inference_graph"})  # say nothing of what is computed


@dataclass
class Trial:
    """How exact the watched runs of one kind are, as far as it is known.

    `proven` says that the graphs were compared; `other_ops` are the ops of the plain graph that the watched one
    computes otherwise. `differs` is where a watched run gave other numbers than a plain one: from then on no run of
    the kind is watched in place. `unlike` says why runs of the kind cannot be compared; empty if they can.
    """

    runs: int = 0
    proven: bool = False
    other_ops: tuple[str, ...] = ()
    differs: tuple[Parting, ...] = field(default=())
    unlike: str = ""

    def due(self) -> bool:
        """Whether the next run is to be made plain too: the first, and then ever more seldom."""
        self.runs += 1
        return self.runs & (self.runs - 1) == 0


class Graphs:
    """Collects the graphs that one run consists of: make it with these `options` and `metadata`."""

    def __init__(self) -> None:
        self.options = v1.RunOptions(output_partition_graphs=True)
        self.metadata = v1.RunMetadata()


def other_ops(plain: Graphs, watched: Graphs) -> tuple[str, ...]:
    """The names of the ops of the plain run that the watched one lacks, or computes otherwise or of other inputs.

    What tfdbg added is left out, and so are ops that only hand on what they are given.
    """
    theirs, ours = _Ran(plain.metadata.partition_graphs), _Ran(watched.metadata.partition_graphs)
    return tuple(name for name, told in theirs.told() if ours.nodes.get(name) is None or ours.tell(name) != told)


class _Ran:
    """The nodes of the graphs that a run consisted of."""

    def __init__(self, graphs: Iterable[GraphDef]) -> None:
        self.nodes = {node.name: node for graph in graphs for node in graph.node if PREFIX not in node.name}

    def told(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        """By name what each node computes; a constant, or a node that only hands on, counts where it is read."""
        for name, node in self.nodes.items():
            if node.op not in _ENDS and node.op not in ("Identity", "Const"):
                yield name, self.tell(name)

    def tell(self, name: str) -> tuple[object, ...]:
        """What the node of that name computes, and of what."""
        node = self.nodes[name]
        attributes = {
            key: value.SerializeToString(deterministic=True)
            for key, value in node.attr.items()
            if key not in _NOT_TOLD
        }
        return node.op, node.device, attributes, [self._source(text) for text in node.input if text[:1] != "^"]

    def _source(self, text: str) -> str | bytes:
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
