"""The program's own graph and where its nodes were made, read from a tf.Graph when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from linecache import getline
from pathlib import PurePath
from typing import Any

from tfdbg_cli.capture.sessions.hidden_ops import program_version
from tfdbg_cli.capture.tf.memo import kept_with
from tfdbg_cli.formats.attribute_text import AttributeTexts
from tfdbg_cli.formats.graph_files import GraphFiles, graph_files
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, Traceback, is_library, user_frame


def program_graph(graph: Any) -> Graph:
    """The model of `graph` (a tf.Graph), made again only after it grew."""
    kept = kept_with(graph)
    version = program_version(graph)
    if kept.model is None or kept.model_version != version:
        kept.model = Graph([_node(op) for op in graph.get_operations()], GraphKind.PYTHON)
        kept.model_version = version
        kept.files = None
    return kept.model


def tracebacks_of(graph: Any) -> Tracebacks:
    """The creation stacks of the nodes of `graph`; those that were read once stay."""
    kept = kept_with(graph)
    if kept.tracebacks is None:
        kept.tracebacks = Tracebacks(graph)
    return kept.tracebacks


def files_of(graph: Any, run: Run) -> GraphFiles:
    """What `graph` puts into the dump of `run` and of every run of it, made again only after it grew."""
    kept = kept_with(graph)
    if program_graph(graph) not in {run.graph, run.python_graph}:
        return graph_files(run)  # it has grown since the run
    if kept.files is None:
        kept.files = graph_files(run)
    return kept.files


def tensor_name(tensor: Any) -> TensorName:
    """The name of a tf.Tensor in a graph."""
    return TensorName(tensor.op.name, tensor.value_index)


def _node(op: Any) -> Node:
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

    def __init__(self, op: Any) -> None:
        self._op = op
        self._found: Any = None

    @property
    def attr(self) -> Any:
        if self._found is None:
            self._found = self._op.node_def
        return self._found.attr


def _stack_of(op: Any) -> Traceback:
    """The stack of a tf.Operation. TensorFlow keeps no text of the line, and AutoGraph no name of a lambda."""
    return tuple(
        Frame(
            frame.filename,
            frame.lineno,
            frame.name or "<lambda>",
            getline(frame.filename, frame.lineno).strip(),
        )
        for frame in op.traceback or ()
    )


def _begins_in_thread(stack: Traceback) -> bool:
    return bool(stack) and PurePath(stack[0].file).name == "threading.py"


class Tracebacks(Mapping[str, Traceback]):
    """Creation stacks by node name, read from the tf.Graph when asked for.

    Replicas of tf.distribute are traced in threads of their own, whose stacks do not begin with the program. Where
    none of the program's lines is in one, those that led to the op made last before, outside of such threads, are put
    in front: the thread that waits for the replicas asked for them there.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._known: dict[str, Traceback] = {}
        self._places: dict[str, int] = {}

    def __getitem__(self, name: str) -> Traceback:
        if name not in self._known:
            try:
                op = self._graph.get_operation_by_name(name)
            except (KeyError, ValueError, TypeError):
                raise KeyError(name) from None
            stack = _stack_of(op)
            outside = _begins_in_thread(stack) and user_frame(stack) is None
            self._known[name] = (*self._led_to(name), *stack) if outside else stack
        return self._known[name]

    def _led_to(self, name: str) -> Traceback:
        """The calls down to the last of the program that led to the threads in which `name` was made."""
        ops = self._graph.get_operations()
        if len(self._places) != len(ops):
            self._places = {op.name: place for place, op in enumerate(ops)}
        for place in range(self._places.get(name, 0) - 1, -1, -1):
            stack = _stack_of(ops[place])
            own = [i for i, frame in enumerate(stack) if not is_library(frame.file)]
            if own and not _begins_in_thread(stack):
                return stack[: own[-1] + 1]
        return ()

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in self._graph.get_operations())

    def __len__(self) -> int:
        return len(self._graph.get_operations())
