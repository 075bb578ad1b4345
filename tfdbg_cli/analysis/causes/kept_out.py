"""What a tf.where keeps out: whether the bad elements of one of its branches are chosen."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue


def keeps_out(run: Run, lineage: Lineage, node: Node, choice: Node, taken_where: bool, *, aligned: bool) -> bool:
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
    """As `keeps_out`, for the output of the choice at row `turn`; `bad` marks bad elements of the branch, if known.

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
