"""Collective ops, which combine inputs of several workers or replicas, of which only this process's may be seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue

# Whether what the op gives is a sum, which can exceed the dtype although nobody gave an infinity
# (collective_ops.cc, nccl_ops.cc, tpu_cross_replica_ops.cc).
COLLECTIVES = {
    **dict.fromkeys((
        "CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3", "CollectiveReduceScatterV2", "NcclAllReduce",
        "_NcclReduceSend", "_NcclReduceRecv", "CrossReplicaSum", "XlaAllReduce", "XlaReduceScatter",
    ), True),
    **dict.fromkeys((
        "CollectiveGather", "CollectiveGatherV2", "CollectiveBcastRecv", "CollectiveBcastRecvV2",
        "CollectiveAllToAllV2", "CollectiveAllToAllV3", "_NcclBroadcastRecv", "AllToAll", "CollectivePermute",
    ), False),
}  # fmt: skip
# The inputs that say which ops belong together: the group, and which of its calls.
_KEYS = {"CollectiveReduceV2": (2, 3), "CollectiveGatherV2": (2, 3), "CollectiveReduceScatterV2": (2, 3)}
_ELSEWHERE = (
    "Debug every worker (`tfdbg run --until has_inf_or_nan` on each): it began where the origin is none of these ops."
)


def cause_elsewhere(node: Node, value: Array, inputs: Sequence[InputSeen]) -> Cause | None:
    """The cause for a value from another worker or replica; None for no collective, or if its own input is bad."""
    if node.op_type not in COLLECTIVES:
        return None
    given = inputs[0].value if inputs and _gives(inputs[0]) else None
    if given is not None and nonfinite_mask(given).any():
        return None
    here = "" if given is None else f": what this one gave, {inputs[0].name}, is finite"
    summed = COLLECTIVES[node.op_type] and not np.isnan(value).any()
    or_else = ", or the sum of all exceeds what the dtype holds" if summed else ""
    return Cause(f"It came from another worker or replica{here}{or_else}.", _ELSEWHERE)


def given_by_others(run: Run, lineage: Lineage, index: int) -> list[int]:
    """The rows of what other replicas in this process gave to the same collective call as the tensor at `index`."""
    node = lineage.node(index)
    keys = None if node is None else _call(run, node)
    if node is None or keys is None:
        return []
    found = []
    for other in lineage.graph_of(node):
        if other.op_type == node.op_type and other.name != node.name and other.inputs and _call(run, other) == keys:
            given = other.inputs[0]
            found += [row for row in run.tensors.named(given.node, given.slot)][-1:]
    return found


def _gives(item: InputSeen) -> bool:
    return item.value is not None and item.value.dtype.kind in "fcV"


def _call(run: Run, node: Node) -> tuple[int, ...] | None:
    """The numbers of the group, and of its call; None where they are not known."""
    found = []
    for position in _KEYS.get(node.op_type, ()):
        name = node.inputs[position] if position < len(node.inputs) else None
        rows = run.tensors.named(name.node, name.slot) if name is not None else ()
        value = run.tensors.value(rows[-1]) if rows else None
        if value is None or isinstance(value, NoValue) or value.size != 1:
            return None
        found.append(int(value.reshape(-1)[0]))
    return tuple(found) or None
