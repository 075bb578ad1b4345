"""Finding the tf.where that hides an op's bad output from the result, though not from the gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfdbg_cli.analysis.graph.forward import SHAPES
from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.analysis.graph.parts import ELEMENTWISE
from tfdbg_cli.analysis.graph.roles import is_gradient
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import nearest_first
from tfdbg_cli.ops.kinds import SAME_VALUE, SELECTS

_FAR = 5  # ops between a value and the tf.where that hides it
_MOST_NODES = 200


def hidden_by(run: Run, lineage: Lineage, node: Node, forward: Node) -> str:
    """The name of the tf.where that chooses none of the elements that are bad in `node`; empty if there is none.

    `forward` is the op of the forward pass whose output the tf.where chooses from: `node` itself, or the op whose
    gradient `node` computes. A tf.where that lets some bad elements through, as in dropout, hides nothing.
    """
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
            if _keeps_out(run, lineage, node, reader, branches.index(TensorName(name, 0)) == 0, aligned=aligned):
                return reader.name
    return ""


def _keeps_out(run: Run, lineage: Lineage, node: Node, choice: Node, taken_where: bool, *, aligned: bool) -> bool:
    """Whether the Select op `choice` takes nothing bad from the branch that it takes where its condition is
    `taken_where`. `aligned` says that elements of `node` have the same places in that branch.
    """
    given, turns = run.tensors.named(node.name), run.tensors.named(choice.name)
    once = aligned and len(given) == 1 and len(turns) <= 1
    bad = _bad(run, given[0]) if once else None
    if not turns:  # only its gradient was wanted, so it did not run
        return bad is not None and _would_take_none(run, choice, taken_where, bad)
    return all(_takes_none(run, lineage, turn, taken_where, bad) for turn in turns)


def _takes_none(run: Run, lineage: Lineage, turn: int, taken_where: bool, bad: Array | None) -> bool:
    """As `_keeps_out`, for the output of the choice at row `turn`; `bad` marks bad elements of the branch, if known.

    If the condition is not known, a result that is all finite is enough.
    """
    chosen = _bad(run, turn)
    if chosen is None:
        return False
    condition = next((item.value for item in lineage.inputs(turn)), None)
    if condition is None or condition.dtype != np.bool_:
        return not chosen.any()
    if run.tensors[turn].op_type == "Select" and condition.ndim == 1 and chosen.ndim > 1:
        condition = condition.reshape(-1, *[1] * (chosen.ndim - 1))  # version 1 chooses whole rows
    taken = _over(condition if taken_where else ~condition, chosen)
    if taken is None:
        return not chosen.any()
    reaching = None if bad is None else _over(bad, chosen)
    return not (taken & (chosen if reaching is None else chosen | reaching)).any()


def _would_take_none(run: Run, choice: Node, taken_where: bool, bad: Array) -> bool:
    """Whether the condition of `choice` says that it takes none of the elements `bad`."""
    asked = choice.inputs[0]
    conditions = [run.tensors.value(row) for row in run.tensors.named(asked.node, asked.slot)]
    if len(conditions) != 1 or isinstance(conditions[0], NoValue) or conditions[0].dtype != np.bool_:
        return False
    taken = _over(conditions[0] if taken_where else ~conditions[0], bad)
    return taken is not None and not (taken & bad).any()


def _bad(run: Run, index: int) -> Array | None:
    value = run.tensors.value(index)
    return None if isinstance(value, NoValue) else nonfinite_mask(value)


def _over(mask: Array, chosen: Array) -> Array | None:
    """`mask` with an element for each one of `chosen`; None where it does not fit."""
    try:
        return np.broadcast_to(mask, chosen.shape)
    except ValueError:
        return None
