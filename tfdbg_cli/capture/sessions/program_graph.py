"""The program's own graph, read from a tf.Graph when somebody looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfdbg_cli.capture.sessions.hidden_ops import program_version
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import AttrValue, NodeDef, Op, SymbolicTensor, TfGraph
from tfdbg_cli.formats.dumps.graph_files import GraphFiles, graph_files
from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run


@dataclass
class _Latest:
    """The model of a graph as of a version of it, and its files."""

    version: int = -1
    model: Graph | None = None
    files: GraphFiles | None = None


_LATEST = Memo(lambda graph: _Latest())


def program_graph(graph: TfGraph) -> Graph:
    """The model of `graph` (a tf.Graph), made again only after it grew."""
    latest, version = _LATEST.of(graph), program_version(graph)
    if latest.model is None or latest.version != version:
        latest.model = Graph([_node(op) for op in graph.get_operations()], GraphKind.PYTHON)
        latest.version = version
        latest.files = None
    return latest.model


def files_of(graph: TfGraph, run: Run) -> GraphFiles:
    """The files that describe `graph` in the dump of `run`; they are made again only after the graph grew."""
    if program_graph(graph) not in {run.graph, run.python_graph}:
        return graph_files(run)  # it has grown since the run
    latest = _LATEST.of(graph)
    if latest.files is None:
        latest.files = graph_files(run)
    return latest.files


def tensor_name(tensor: SymbolicTensor) -> TensorName:
    """The name of a tf.Tensor in a graph."""
    return TensorName(tensor.op.name, tensor.value_index)


def _node(op: Op) -> Node:
    return Node(
        op.name,
        op.type,
        op.device,
        tuple(map(tensor_name, op.inputs)),
        tuple(control.name for control in op.control_inputs),
        AttributeTexts(_Definition(op)),
    )


class _Definition:
    """The NodeDef of a tf.Operation, asked of TensorFlow when its attributes are looked at, and then kept."""

    __slots__ = ("_found", "_op")

    def __init__(self, op: Op) -> None:
        self._op = op
        self._found: NodeDef = None

    @property
    def attr(self) -> Mapping[str, AttrValue]:
        if self._found is None:
            self._found = self._op.node_def
        attributes: Mapping[str, AttrValue] = self._found.attr
        return attributes
