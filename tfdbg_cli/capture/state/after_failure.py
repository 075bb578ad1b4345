"""What a failed run has done to variables: those that it cannot have changed, and those that it left bad."""

from __future__ import annotations

from functools import reduce

from tfdbg_cli.capture.functions.calling.kept_tensors import array_of
from tfdbg_cli.capture.functions.definition.effects import SideEffect, side_effect_of
from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.stores import joined
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore, describe
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array, NoValue


def hold_unchanged(held: CallSnapshot, node: str | None) -> None:
    """Add the values of variables to the snapshot `held` that the call, which failed at `node`, cannot have changed.

    Whatever writes these depends on the op that failed.
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


def with_left_bad(tensors: TensorStore, held: CallSnapshot, graph: Graph) -> TensorStore:
    """`tensors`, and behind them the variables that a failed call left with NaN or infinities, as they are now.

    What writes them need not depend on the op that failed. `graph` has the nodes that stand for them after their
    update. Where another thread may have written meanwhile, nothing is added.
    """
    if not held.alone:
        return tensors
    named = held.plan.root.argument_positions
    now = held.variables_now()
    left: dict[int, tuple[Tensor, Array]] = {}
    for node in graph:
        position = named.get(node.inputs[0]) if node.op_type == UPDATED_VARIABLE and node.inputs else None
        tensor = None if position is None else now.get(position)
        if position is None or tensor is None or position in left or tensors.named(node.name):
            continue
        value = array_of(tensor)
        if not isinstance(value, NoValue) and any_nonfinite(value):
            dtype = element_type(tensor.dtype.as_datatype_enum).name
            name, op_type = TensorName(node.name, 0), node.op_type
            left[position] = describe(name, value, device=node.device, op_type=op_type, dtype=dtype), value
    outlines, values = [one for one, _ in left.values()], [value for _, value in left.values()]
    return joined(tensors, MemoryTensorStore(outlines, values)) if left else tensors


def _written_by(flat: FlatFunction, later: set[str]) -> set[TensorName]:
    """All inputs of nodes not in `later` that may write; the handles of what they write are among these."""
    return {
        name for node in flat.nodes.values() if node.name not in later and may_write(node) for name in node.inputs
    }


def may_write(node: FlatNode) -> bool:
    """Whether the node may write a variable that it is given."""
    return node.scope is not None and side_effect_of(node.op_type) in (SideEffect.WRITE, SideEffect.CALL)
