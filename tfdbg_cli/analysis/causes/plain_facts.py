"""What can be said for sure of a tensor that is not finite, when no rule explains it."""

from __future__ import annotations

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.lineage import InputSeen
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array


def plain_facts(op_type: str, value: Array, bad: Array, inputs: tuple[InputSeen, ...], node: Node | None) -> Cause:
    """How many NaN and infinities the op gave, and what is known of its inputs."""
    nan = int(nan_mask(value).sum())
    infinite = int(bad.sum()) - int((bad & nan_mask(value)).sum())
    told = " and ".join([f"{nan} NaN"] * bool(nan) + [f"{infinite} inf"] * bool(infinite))
    fact = f"{op_type or 'This op'} gave {told} among {value.size} element{'s' * (value.size != 1)}"
    if node is None:
        return Cause(f"{fact}; no graph at hand holds it, so its inputs are not known.")
    unseen = [str(item.name) for item in inputs if item.value is None and item.tensor is None]
    if unseen:
        return Cause(f"{fact}; of its inputs {', '.join(unseen)} was not seen.")
    if not inputs:
        return Cause(f"{fact}; it has no inputs.")
    held = [str(item.name) for item in inputs if item.value is not None and nonfinite_mask(item.value).any()]
    if held:
        return Cause(f"{fact}; {', '.join(held)} held some already.")
    if any(item.value is None for item in inputs):
        return Cause(f"{fact}.")  # nobody knows what is behind a handle
    return Cause(f"{fact} out of finite inputs.")
