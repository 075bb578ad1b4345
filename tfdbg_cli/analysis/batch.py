"""Which rows of the batch are behind the offending elements of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tfdbg_cli.analysis.lineage import PLACEHOLDER_OPS, InputSeen, Lineage, fed_value, feed_name
from tfdbg_cli.analysis.parts import ELEMENTWISE, MATMUL, ROWS, SAMPLES, flag, reduced_axes
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

# Where a batch enters a graph that is not fed.
_PIPELINE_OPS = frozenset({
    "IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue", "QueueDequeueV2", "QueueDequeueManyV2",
    "QueueDequeueUpToV2", "ParseExample", "ParseExampleV2", "OneShotIterator",
})  # fmt: skip
# Ops whose output row i comes from row i of those inputs, provided that both have the same number of rows.
_ROWWISE = ROWS | SAMPLES | frozenset({
    "Identity", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "PreventGradient", "Cast", "OneHot",
    "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx", "Switch", "RefSwitch", "Merge",
    "Enter", "Exit", "Pad", "PadV2", "MirrorPad", "StridedSlice", "Slice", "ResizeBilinear", "ReadVariableOp",
    "_Recv", "_HostRecv", "CheckNumerics", "EnsureShape", "Snapshot", "ArgMax", "ArgMin", "TopKV2",
})  # fmt: skip
_MOST_TENSORS = 5_000  # looked at on the way back to a feed


def batch_rows(run: Run, lineage: Lineage, index: int, bad: Array) -> tuple[int, ...]:
    """The leading indices of the elements of tensor `index` where `bad` is True, if they number rows of a batch.

    They do when the first dimension is as long as that of a feed (or of what an input pipeline delivered) from
    which the tensor was computed by ops that keep rows apart; otherwise the answer is empty.
    """
    if bad.ndim == 0 or not bad.any() or not _is_batch(run, lineage, index, bad.shape[0]):
        return ()
    rows = bad.reshape(bad.shape[0], -1).any(axis=1)
    return tuple(int(row) for row in np.flatnonzero(rows))


def _is_batch(run: Run, lineage: Lineage, start: int, rows: int) -> bool:
    waiting, met = [start], {start}
    while waiting and len(met) < _MOST_TENSORS:
        index = waiting.pop()
        node = lineage.node(index)
        if node is None:
            continue
        if _enters(run, node, rows):
            return True
        inputs = lineage.inputs(index)
        for position in _row_inputs(node, run.tensors[index].shape or (), inputs):
            item = inputs[position]
            if item.index is None:
                if item.value is not None and _leads(item.value.shape, rows) and _is_feed(run, item):
                    return True
            elif item.index not in met and item.tensor is not None and _leads(item.tensor.shape, rows):
                met.add(item.index)
                waiting.append(item.index)
    return False


def _leads(shape: tuple[int, ...] | None, rows: int) -> bool:
    return bool(shape) and shape is not None and shape[0] == rows


def _is_feed(run: Run, item: InputSeen) -> bool:
    name = feed_name(item.node) or item.name
    return fed_value(run.call.feeds, name) is not None


def _enters(run: Run, node: Node, rows: int) -> bool:
    """Whether a batch comes into the graph at `node`; its tensor is known to have `rows` rows."""
    return node.op_type in PLACEHOLDER_OPS or node.op_type in _PIPELINE_OPS or f"{node.name}:0" in run.call.feeds


def _row_inputs(node: Node, shape: tuple[int, ...], inputs: list[InputSeen]) -> list[int]:
    """Positions of the inputs whose row i went into row i of the output of `shape`."""
    op = node.op_type
    if op in ELEMENTWISE:
        # A vector beside a matrix runs along columns, even where it is as long as the batch.
        return [i for i, item in enumerate(inputs) if item.value is not None and item.value.ndim == len(shape)]
    if op in MATMUL or op in _POSITIONS or op in _ROWWISE:
        chosen = _POSITIONS[op](node, inputs) if op in _POSITIONS else [0]
        if op in MATMUL and len(shape) == 2:
            chosen = [] if flag(node, "transpose_a") or flag(node, "adj_x") else [0]
        elif op in ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"):
            chosen = [0, 1]
        return [i for i in chosen if i < len(inputs)]
    if op in ("Sum", "Mean", "Prod", "Max", "Min"):
        axes = reduced_axes(node, [item.value for item in inputs], shape)
        return [0] if axes is not None and 0 not in axes else []
    return []


def _integer(item: InputSeen) -> int | None:
    return int(item.value.reshape(-1)[0]) if item.value is not None and item.value.size else None


def _concatenated(node: Node, inputs: list[InputSeen]) -> list[int]:
    """Every part, when the axis (the last input) is known not to be the first."""
    axis = _integer(inputs[-1]) if inputs else None
    rank = max((item.value.ndim for item in inputs[:-1] if item.value is not None), default=0)
    if axis is None or not rank or axis % rank == 0:
        return []
    return list(range(len(inputs) - 1))


def _gathered(node: Node, inputs: list[InputSeen]) -> list[int]:
    """The indices, when rows are looked up along the first axis."""
    axis = _integer(inputs[2]) if len(inputs) > 2 else 0
    return [1] if axis == 0 else []


def _transposed(node: Node, inputs: list[InputSeen]) -> list[int]:
    return [0] if len(inputs) > 1 and _integer(inputs[1]) == 0 else []


_POSITIONS: Mapping[str, Callable[[Node, list[InputSeen]], list[int]]] = {
    "ConcatV2": _concatenated,
    "GatherV2": _gathered,
    "Gather": _gathered,
    "ResourceGather": _gathered,
    "Transpose": _transposed,
}
