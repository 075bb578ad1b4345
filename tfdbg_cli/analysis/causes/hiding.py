"""Finding the tf.where that hides an op's bad output from the result, though not from the gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdbg_cli.analysis.causes.coming_out import comes_out
from tfdbg_cli.analysis.causes.kept_out import keeps_out
from tfdbg_cli.analysis.causes.zeroed_gradient import multiplied_by_zero
from tfdbg_cli.analysis.graph.making.forward import SHAPES
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import nearest_first
from tfdbg_cli.ops.kinds import SAME_VALUE, SELECTS

_FAR = 5  # ops between a value and the tf.where that hides it
_MOST_NODES = 200


def hidden_by(run: Run, lineage: Lineage, node: Node, forward: Node, gradients: Iterable[Node]) -> str:
    """The name of the tf.where that hides from the result what is bad in `node`; empty if there is none.

    `forward` is the op of the forward pass whose output the tf.where chooses from: `node` itself, or the op whose
    gradient `node` computes; `gradients` are the bad ones of it. A tf.where that lets some bad elements through, as
    in dropout, hides nothing, nor does one beside which they take another way to the result.
    """
    if multiplied_by_zero(run, lineage, gradients) is False:
        return ""
    choices = _choices(run, lineage, node, forward)
    return next((choice.name for choice in choices if not comes_out(run, lineage, forward, choice)), "")


def _choices(run: Run, lineage: Lineage, node: Node, forward: Node) -> Iterator[Node]:
    """The Select ops behind `forward` that take nothing bad from the branch that leads there, nearest first."""
    graph = lineage.graph_of(forward)

    def readers(name: str) -> Iterator[Node]:
        return (reader for reader, _ in graph.consumers(name) if not is_gradient(graph, reader.name))

    def further(place: tuple[str, bool]) -> Iterator[tuple[str, bool]]:
        name, aligned = place
        for reader in readers(name):
            same = reader.op_type in ELEMENTWISE or reader.op_type in SAME_VALUE
            if same or reader.op_type in SHAPES:
                yield reader.name, aligned and same

    for (name, aligned), far in nearest_first([(forward.name, True)], further, most=_MOST_NODES):
        if far > _FAR:
            break
        for reader in readers(name):
            branches = list(reader.inputs[1:]) if reader.op_type in SELECTS else []
            if TensorName(name, 0) not in branches:
                continue
            if keeps_out(run, lineage, node, reader, branches.index(TensorName(name, 0)) == 0, aligned=aligned):
                yield reader
