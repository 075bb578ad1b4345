"""What can be said for sure of a tensor that is not finite, when no rule explains it."""

from __future__ import annotations

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.watch.verdicts import holding, nan_mask
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import RELUS, SAME_ELEMENTS, SIGNS

_MAKES_NOTHING = SAME_ELEMENTS | SIGNS | RELUS
"""Ops that give nothing infinite, and no NaN, of finite numbers."""
_REORDERED = "TensorFlow's optimizer computed what it read in another way than the program wrote it."
_KEEP_APART = (
    "Constants that are added one after the other are added up first, which loses an epsilon: 1 - p + 1e-9 becomes"
    " (1 + 1e-9) - p, and 1 + 1e-9 is 1 in float32. Use a bound in its place: tf.maximum(1 - p, 1e-7)."
)


def plain_facts(op_type: str, value: Array, bad: Array, inputs: tuple[InputSeen, ...], node: Node | None) -> Cause:
    """How many NaN and infinities the op gave, and what is known of its inputs."""
    nan = int(nan_mask(value).sum())
    infinite = int(bad.sum()) - int((bad & nan_mask(value)).sum())
    told = " and ".join([f"{nan:,} NaN"] * bool(nan) + [f"{infinite:,} inf"] * bool(infinite))
    fact = f"{op_type or 'This op'} gave {told} among {count_text(value.size, 'element')}"
    if node is None:
        return Cause(f"{fact}; no graph at hand holds it, so its inputs are not known.")
    unseen = [str(item.name) for item in inputs if item.value is None and item.tensor is None]
    if unseen:
        return Cause(f"{fact}; of its inputs {', '.join(unseen)} {'were' if len(unseen) > 1 else 'was'} not seen.")
    if not inputs:
        return Cause(f"{fact}; it has no inputs.")
    bad_inputs = [item for item in inputs if item.value is not None and nonfinite_mask(item.value).any()]
    if bad_inputs:
        held = (f"{item.name} held {holding([item.value])}" for item in bad_inputs if item.value is not None)
        return Cause(f"{fact}; {', '.join(held)} already.")
    if any(item.value is None for item in inputs):
        return Cause(f"{fact}.")  # nobody knows what is behind a handle
    if op_type in _MAKES_NOTHING:
        shown = ", ".join(str(item.name) for item in inputs)
        return Cause(f"{fact}, and cannot have made it of {shown}, as that is shown: {_REORDERED}", _KEEP_APART)
    return Cause(f"{fact} out of finite inputs.")
