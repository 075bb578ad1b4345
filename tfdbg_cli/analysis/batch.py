"""Which rows of the batch are behind the offending elements of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.lineage import PLACEHOLDER_OPS, InputSeen, Lineage
from tfdbg_cli.analysis.parts import ELEMENTWISE, MATMUL, ROWS, SAMPLES, flag, reduced_axes
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, NoValue

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
        if _enters(run, node):
            return True
        inputs = lineage.places(index)
        for position in _row_inputs(run, node, run.tensors[index].shape or (), inputs):
            item = inputs[position]
            if not item.shape or item.shape[0] != rows:
                continue
            if item.index is None:
                if item.value is not None:  # only a feed has a value without being a tensor of the run
                    return True
            elif item.index not in met:
                met.add(item.index)
                waiting.append(item.index)
    return False


def _enters(run: Run, node: Node) -> bool:
    """Whether a batch comes into the graph at `node`."""
    return node.op_type in PLACEHOLDER_OPS or node.op_type in _PIPELINE_OPS or f"{node.name}:0" in run.call.feeds


def _row_inputs(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    """Positions of the inputs whose row i went into row i of the output of `shape`."""
    op = node.op_type
    if op in ELEMENTWISE:
        # A vector beside a matrix runs along columns, even where it is as long as the batch.
        return [i for i, item in enumerate(inputs) if item.shape is not None and len(item.shape) == len(shape)]
    chooser = _CHOOSERS.get(op)
    chosen = chooser(run, node, shape, inputs) if chooser is not None else [0] if op in _ROWWISE else []
    return [i for i in chosen if i < len(inputs)]


def _value(run: Run, inputs: Sequence[InputSeen], position: int) -> Array | None:
    """The value of an input such as an axis, which is small."""
    item = inputs[position] if -len(inputs) <= position < len(inputs) else None
    if item is None or item.index is None:
        return None if item is None else item.value
    value = run.tensors.value(item.index)
    return None if isinstance(value, NoValue) else value


def _number(run: Run, inputs: Sequence[InputSeen], position: int) -> int | None:
    value = _value(run, inputs, position)
    return int(value.reshape(-1)[0]) if value is not None and value.size else None


def _multiplied(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    """The left factor; in a product of matrices only when its rows are not summed over."""
    if len(shape) == 2 and (flag(node, "transpose_a") or flag(node, "adj_x")):
        return []
    return [0] if len(shape) == 2 else [0, 1]


def _reduced(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    source = inputs[0].shape if inputs else None
    axes = None if source is None else reduced_axes(node.op_type, source, _value(run, inputs, 1), shape)
    return [0] if axes is not None and 0 not in axes else []


def _concatenated(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    """Every part, when the axis (the last input) is known not to be the first."""
    axis = _number(run, inputs, -1)
    return [] if axis is None or not shape or axis % len(shape) == 0 else list(range(len(inputs) - 1))


def _gathered(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    """The indices, when rows are looked up along the first axis."""
    return [1] if len(inputs) < 3 or _number(run, inputs, 2) == 0 else []


def _transposed(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    return [0] if _number(run, inputs, 1) == 0 else []


def _both(run: Run, node: Node, shape: Shape, inputs: Sequence[InputSeen]) -> list[int]:
    return [0, 1]


_Chooser: TypeAlias = Callable[[Run, Node, Shape, Sequence[InputSeen]], list[int]]
_CHOOSERS: Mapping[str, _Chooser] = {
    **dict.fromkeys(MATMUL, _multiplied),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min"), _reduced),
    **dict.fromkeys(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), _both),
    "ConcatV2": _concatenated,
    "GatherV2": _gathered,
    "Gather": _gathered,
    "ResourceGather": _gathered,
    "Transpose": _transposed,
}
