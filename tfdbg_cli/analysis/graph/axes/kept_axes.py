"""Which rows of an op's inputs made some rows of its output: along which axis, and which ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.graph.axes import called_results, indexed_axes, moved_places, sliced_axes, stored_axes
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowSet, RowWay
from tfdbg_cli.analysis.graph.flow.popped import POPS
from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.analysis.graph.making.parts import (
    ELEMENTWISE,
    EQUATION,
    MATMUL,
    MISFIT,
    ROWS,
    SAMPLES,
    flag,
    reduced_axes,
)
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.ops import kinds

# Ops whose output has the axes of their first input.
_SAME_AXES = kinds.COPIES | kinds.CHECKS | kinds.PASSING | kinds.RECEIVES | kinds.NORMALIZATIONS | kinds.UNPACKS | {
    "NextIteration", "_FusedBatchNormEx", LOOP_VARIABLE, "FakeQuantWithMinMaxVars", "MatrixBandPart",
    "ZerosLike", *POPS,
}  # fmt: skip
# Ops that make one thing of the last axes, as many as the number says, and keep those before apart.
_LAST_AXES = {
    **dict.fromkeys(("FFT", "IFFT", "RFFT", "IRFFT", "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"), 1),
    **dict.fromkeys((*kinds.SORTS, "Softmax", "LogSoftmax"), 1),
    **dict.fromkeys(("FFT2D", "IFFT2D", "RFFT2D", "IRFFT2D", "FFT3D", "IFFT3D"), 3),
    **dict.fromkeys((
        "Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixSolve", "MatrixDiagPart",
        "MatrixDiagPartV3", "MatrixTriangularSolve", "Qr", "Svd", "SelfAdjointEigV2", "MatrixLogarithm",
        "MatrixSquareRoot",
    ), 2),
}  # fmt: skip
# Ops that hand on what one of their inputs is, with its shape.
_HAND_ON = frozenset({"Merge", "AddN"})


def ways_back(rows: RowSet) -> list[RowWay]:
    """The rows of the inputs that made `rows`; empty where the op mixes them, or does not say."""
    rows = replace(rows, node=as_written(rows.node))
    op = rows.node.op_type
    if op in ELEMENTWISE or op in kinds.TRUTHS or op in kinds.TEXTS_ONE_BY_ONE or op in _HAND_ON:
        # A vector beside a matrix runs along columns, even where it is as long as the batch.
        return [
            w
            for i, shape in enumerate(rows.inputs)
            if shape is not None and _has_own(rows, shape)
            for w in rows.same(i)
        ]
    finder = _FINDERS.get(op)
    if finder is not None:
        try:
            found = list(finder(rows))
        except MISFIT:
            return []
        return [way for way in found if _is_there(way, rows.of(way.position))]
    if op in _SAME_AXES:
        return rows.same(0)
    return rows.same(0) if (op in ROWS or op in SAMPLES) and rows.axis == 0 else []


def _has_own(rows: RowSet, shape: Shape) -> bool:
    """Whether an input of `shape` has rows of its own for those of the output, and not one for all of them."""
    if len(shape) != len(rows.shape):
        return False
    return not (0 <= rows.axis < len(shape) and shape[rows.axis] == 1 and rows.shape[rows.axis] > 1)


def _is_there(way: RowWay, shape: Shape | None) -> bool:
    """Whether an input of `shape` has such rows; of a damaged recording it need not."""
    if shape is None or way.axis == WHOLE:
        return shape is not None
    if not 0 <= way.axis < len(shape):
        return False
    return bool(((way.rows >= 0) & (way.rows < shape[way.axis])).all())


def _each_its_own(rows: RowSet) -> list[RowWay]:
    """IdentityN, which hands on every input, as functions with a gradient of their own do with what they give."""
    return rows.same(rows.slot)


def _within_last_axes(rows: RowSet) -> list[RowWay]:
    """An op that makes one thing of the last axes of its inputs: those before are the same rows of each."""
    apart = (len(rows.of(0) or ()) or len(rows.shape)) - _LAST_AXES[rows.node.op_type]
    return [way for i in range(len(rows.inputs)) for way in rows.same(i)] if rows.axis < apart else []


def _of_python(rows: RowSet) -> list[RowWay]:
    return [way for i, shape in enumerate(rows.inputs) if shape == rows.shape for way in rows.same(i)]


def _reshaped(rows: RowSet) -> list[RowWay]:
    """Rows behind a change of shape, also where an axis is the product of several, or a part of one."""
    source = rows.of(0)
    if source is None or math.prod(source) != math.prod(rows.shape):
        return []
    (before, inside), size = _around(rows.shape, rows.axis), rows.shape[rows.axis]
    found: list[RowWay] = []
    for axis, length in enumerate(source):
        outer, inner = _around(source, axis)
        if (outer, inner, length) == (before, inside, size):
            return [RowWay(0, axis, rows.rows)]
        if length < 2 or size < 2:  # what stands along an axis of one is told apart by nothing
            continue
        if outer >= before and inner >= inside and not inner % inside:  # [B,T,…] became [B*T,…]
            at = rows.rows * inside // inner % length
            found.append(RowWay(0, axis, np.unique(at), inner=outer > before))
        elif outer == before and inner < inside and length * inner >= size * inside and length % size == 0:
            each = length // size  # [B*T,…] became [B,T,…]
            found.append(RowWay(0, axis, (rows.rows[:, None] * each + np.arange(each)).reshape(-1)))
        elif outer < before and inner == inside and length % size == 0:  # the same, of T
            at = np.arange(length // size)[:, None] * size + rows.rows
            found.append(RowWay(0, axis, np.sort(at.reshape(-1)), inner=True))
    return found


def _around(shape: Shape, axis: int) -> tuple[int, int]:
    """How many elements lie outside of an axis, and how many inside of one of its rows."""
    return math.prod(shape[:axis]), math.prod(shape[axis + 1 :])


def _transposed(rows: RowSet) -> list[RowWay]:
    order = rows.value(1)
    if order is None or order.size != len(rows.shape):
        return []
    return rows.same(0, int(order.reshape(-1)[rows.axis]))


def _multiplied(rows: RowSet) -> list[RowWay]:
    rank = len(rows.shape)
    found: list[RowWay] = []
    for position, own, names in ((0, rank - 2, ("transpose_a", "adj_x")), (1, rank - 1, ("transpose_b", "adj_y"))):
        shape = rows.of(position)
        if shape is None or len(shape) < 2:
            continue
        flipped = any(flag(rows.node, name) for name in names)
        if rows.axis == own:
            last = (position == 1) != flipped
            found += rows.same(position, len(shape) - (1 if last else 2))
        elif rows.axis < rank - 2:
            found += rows.same(position, rows.axis - (rank - len(shape)))
    return found


def _by_equation(rows: RowSet) -> list[RowWay]:
    match = EQUATION.search(rows.node.attributes.get("equation", ""))
    if match is None or rows.axis >= len(match[2]):
        return []
    letter = match[2][rows.axis]
    terms = enumerate(match[1].split(","))
    return [way for i, term in terms if letter in term for way in rows.same(i, term.index(letter))]


def _reduced(rows: RowSet) -> list[RowWay]:
    source = rows.of(0)
    axes = None if source is None else reduced_axes(rows.node.op_type, source, rows.value(1), rows.shape)
    if source is None or axes is None:
        return []
    if len(source) == len(rows.shape):
        return rows.same(0) if rows.axis not in axes else []
    kept = [axis for axis in range(len(source)) if axis not in axes]
    return rows.same(0, kept[rows.axis]) if rows.axis < len(kept) else []


def _largest_place(rows: RowSet) -> list[RowWay]:
    """ArgMax and ArgMin, which take one axis away."""
    source, along = rows.of(0), rows.number(1)
    if source is None or along is None:
        return []
    return rows.same(0, rows.axis + (rows.axis >= along % len(source)))


def _concatenated(rows: RowSet) -> list[RowWay]:
    along = rows.number(-1)
    if along is None:
        return []
    parts = range(len(rows.inputs) - 1)
    if along % len(rows.shape) != rows.axis:
        return [way for i in parts for way in rows.same(i)]
    found: list[RowWay] = []
    start = 0
    for i in parts:
        shape = rows.of(i)
        if shape is None:
            return []
        inside = rows.rows[(rows.rows >= start) & (rows.rows < start + shape[rows.axis])] - start
        found += [RowWay(i, rows.axis, inside)] if inside.size else []
        start += shape[rows.axis]
    return found


def _packed(rows: RowSet) -> list[RowWay]:
    """Pack, and OneHot: an axis more than their inputs, to the others of which they keep.

    Along that axis Pack has all of one input after another.
    """
    named = rows.node.attributes.get("axis", "None") != "None"  # eager ops are given None for what it is by default
    along = (rows.attribute("axis") if named or rows.node.op_type == "Pack" else -1) % len(rows.shape)
    if rows.axis == along:
        return [RowWay(int(i), WHOLE, rows.rows[:0]) for i in rows.rows] if rows.node.op_type == "Pack" else []
    return [way for i in range(len(rows.inputs)) for way in rows.same(i, rows.axis - (rows.axis > along))]


def _unpacked(rows: RowSet) -> list[RowWay]:
    along = rows.attribute("axis") % (len(rows.shape) + 1)
    return rows.same(0, rows.axis + (rows.axis >= along))


def _spread(rows: RowSet) -> list[RowWay]:
    source = rows.of(0)
    return [] if source is None else rows.same(0, rows.axis - (len(rows.shape) - len(source)))


def _losses(rows: RowSet) -> list[RowWay]:
    return [*rows.same(0), *rows.same(1)] if rows.axis == 0 else []


def _alignment_losses(rows: RowSet) -> list[RowWay]:
    """CTCLoss: its loss has an element for each row of the batch, its input and its gradient the steps before."""
    if rows.axis != (0 if rows.slot == 0 else 1):
        return []
    return [*rows.same(0, 1), *stored_axes.elements(rows, 1, 2)]


def _looked_up(rows: RowSet) -> list[RowWay]:
    return rows.same(1)


def _of_bytes(rows: RowSet) -> list[RowWay]:
    return rows.same(0) if rows.axis < len(rows.of(0) or ()) else []


def _accumulated(rows: RowSet) -> list[RowWay]:
    along, source = rows.number(1), rows.of(0)
    return [] if along is None or source is None or along % len(source) == rows.axis else rows.same(0)


def _slope_of_convolution(rows: RowSet) -> list[RowWay]:
    return rows.same(2) if rows.axis == 0 else []


_Finder: TypeAlias = Callable[[RowSet], Iterable[RowWay]]
_FINDERS: Mapping[str, _Finder] = {
    **dict.fromkeys(MATMUL, _multiplied),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "All", "Any"), _reduced),
    **dict.fromkeys(kinds.CROSS_ENTROPIES, _losses),
    **dict.fromkeys(kinds.RESHAPES, _reshaped),
    **dict.fromkeys(kinds.ACCUMULATIONS, _accumulated),
    **dict.fromkeys(kinds.PLACES, _largest_place),
    **dict.fromkeys(kinds.GATHERS, sliced_axes.gathered),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), sliced_axes.padded),
    **dict.fromkeys(kinds.SPLITS, sliced_axes.split),
    **dict.fromkeys(("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"), _slope_of_convolution),
    **dict.fromkeys(("CTCLoss", "CTCLossV2"), _alignment_losses),
    **dict.fromkeys(_LAST_AXES, _within_last_axes),
    **dict.fromkeys(kinds.PYTHON, _of_python),
    **dict.fromkeys(kinds.SEGMENTS, stored_axes.of_segments),
    "SparseToDense": stored_axes.to_dense,
    **dict.fromkeys(("SparseReduceSum", "SparseReduceMax"), stored_axes.reduced),
    "RaggedTensorToTensor": stored_axes.to_tensor,
    **dict.fromkeys(kinds.BRANCHES, called_results.of_branches),
    **dict.fromkeys(kinds.LOOPS, called_results.of_loop),
    **dict.fromkeys(kinds.LOOK_UPS_OF_TEXTS, _looked_up),
    **dict.fromkeys(kinds.BYTES_OF_TEXTS, _of_bytes),
    **dict.fromkeys(kinds.TEXT_SPLITS, stored_axes.of_split_texts),
    **dict.fromkeys(moved_places.MADE_AGAIN, moved_places.moved_rows),
    **dict.fromkeys(("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"), moved_places.unique_rows),
    "SparseTensorDenseMatMul": stored_axes.multiplied,
    "CropAndResize": indexed_axes.cropped,
    "IdentityN": _each_its_own,
    "Einsum": _by_equation,
    "Transpose": _transposed,
    "ConcatV2": _concatenated,
    **dict.fromkeys(("Pack", "OneHot"), _packed),
    "Unpack": _unpacked,
    "ReverseV2": sliced_axes.reversed,
    "Roll": sliced_axes.rolled,
    "Slice": sliced_axes.cut,
    "StridedSlice": sliced_axes.strided,
    "Tile": sliced_axes.repeated,
    "BroadcastTo": _spread,
    "GatherNd": indexed_axes.gathered_nd,
    "ScatterNd": indexed_axes.scattered_nd,
    **dict.fromkeys(kinds.PUTS, indexed_axes.updated_nd),
    "DynamicPartition": indexed_axes.partitioned,
}
