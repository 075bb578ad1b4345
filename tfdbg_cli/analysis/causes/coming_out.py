"""Whether what is bad comes out of the run, on whatever way through the forward pass."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.causes.kept_out import keeps_out
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.analysis.watch.outcome import outcome_of, unread
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import SELECTS


def comes_out(run: Run, lineage: Lineage, node: Node, choice: Node) -> bool:
    """Whether what is bad in `node` is in the outcome of `run`, or in what the Select op `choice` gives.

    It is followed from one bad tensor of the forward pass to the next, but not through a tf.where that takes nothing
    bad of it.
    """
    graph = lineage.graph_of(node)
    outcome = outcome_of(run.graph, run.call).names(run)
    outcome |= unread(run) if run.call.kind is RunKind.EAGER else frozenset()

    def further(name: TensorName) -> Iterator[TensorName]:
        for reader, slot in graph.consumers(name.node):
            if slot != name.slot or is_gradient(graph, reader.name) or _is_kept_out(run, lineage, name, reader):
                continue
            yield from _bad_outputs(run, reader.name)

    starts = set(_bad_outputs(run, node.name))
    return any(name in outcome or name.node == choice.name for name in reached(starts, further))


def _bad_outputs(run: Run, node: str) -> Iterator[TensorName]:
    """The tensors of `node` that were bad in one of their executions."""
    for row in run.tensors.named(node):
        value = run.tensors.value(row)
        if not isinstance(value, NoValue) and any_nonfinite(value):
            yield run.tensors[row].name


def _is_kept_out(run: Run, lineage: Lineage, name: TensorName, reader: Node) -> bool:
    """Whether `reader` is a tf.where that takes nothing bad from the tensor `name`."""
    if reader.op_type not in SELECTS or name.slot:
        return False
    maker = lineage.graph_of(reader).find(name.node)
    places = [place for place, given in enumerate(reader.inputs) if given == name]
    return maker is not None and all(
        place > 0 and keeps_out(run, lineage, maker, reader, place == 1, aligned=True) for place in places
    )
