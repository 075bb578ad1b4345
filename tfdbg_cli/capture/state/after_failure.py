"""Finds variables that a failed run cannot have changed: whatever writes them depends on the op that failed."""

from __future__ import annotations

from functools import reduce

from tfdbg_cli.capture.functions.definition.effects import SideEffect, side_effect_of
from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.model.names import TensorName


def hold_unchanged(held: CallSnapshot, node: str | None) -> None:
    """Add the values of variables to the snapshot `held` that the call, which failed at `node`, cannot have changed.

    `node` is the name in the error; if it may mean several ops, only what depends on all of them counts as not run.
    """
    plan = held.plan
    outside, missing = plan.outside, held.missing
    if node is None or outside is None or not missing:
        return
    flat = outside.flat
    later = [flat.later(op.place_in(flat).name) for op in failing_ops(plan.root, node)]
    if not later:
        return
    handles = {TensorName(plan.root.argument_names[at], 0): at for at in missing}
    written = {handles[handle] for handle in handles.keys() & _written_by(flat, reduce(set.intersection, later))}
    held.hold([at for at in missing if at not in written])


def _written_by(flat: FlatFunction, later: set[str]) -> set[TensorName]:
    """All inputs of nodes not in `later` that may write; the handles of what they write are among these."""
    return {
        name for node in flat.nodes.values() if node.name not in later and may_write(node) for name in node.inputs
    }


def may_write(node: FlatNode) -> bool:
    """Whether the node may write a variable that it is given."""
    return node.scope is not None and side_effect_of(node.op_type) in (SideEffect.WRITE, SideEffect.CALL)
