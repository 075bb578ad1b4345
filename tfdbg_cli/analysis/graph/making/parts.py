"""Which elements of the inputs made one element of an output."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import ACCUMULATIONS, CROSS_ENTROPIES, MATMULS, SHAPE_INPUT, SHARES, TRUTHS, VALUES_INPUT

# What arithmetic raises on inputs that do not fit their op: the graph and the values of a file may be anybody's.
# Where a table of ops is asked about one op, this is caught, and the answer is that nobody can tell.
MISFIT = (IndexError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError)
Index = tuple[int, ...]
PartIndex = tuple[int | None, ...]  # None: every element along this axis


@dataclass(frozen=True)
class Part:
    """The elements of an input that one output element depends on: where, and their values."""

    index: PartIndex
    value: Array


ELEMENTWISE = frozenset({
    "_UnaryOpsComposition", "Angle", "ComplexAbs", "Conj", "Imag", "Real",
    "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cast", "Ceil",
    "ClipByValue", "Complex", "Cos", "Cosh", "Digamma", "Div", "DivNoNan", "Elu", "EluGrad", "Erf", "Erfc", "Erfinv",
    "Exp", "Expm1", "Floor", "FloorDiv", "FloorMod", "Identity", "Inv", "InvGrad", "LeakyRelu", "Lgamma", "Log",
    "Log1p", "Maximum", "Minimum", "Mod", "Mul", "MulNoNan", "Ndtri", "Neg", "Pow", "RealDiv", "Reciprocal",
    "ReciprocalGrad", "Relu", "Relu6", "ReluGrad", "Rint", "Round", "Rsqrt", "RsqrtGrad", "Select", "SelectV2",
    "Selu", "Sigmoid", "SigmoidGrad", "Sign", "Sin", "Sinh", "Softplus", "SoftplusGrad", "Softsign", "Sqrt",
    "SqrtGrad", "Square", "SquaredDifference", "Sub", "Tan", "Tanh", "TanhGrad", "TruncateDiv", "TruncateMod",
    "Xdivy", "Xlog1py", "Xlogy", "BiasAdd", "Betainc", "Igamma", "Zeta", "Polygamma",
    "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1",
    "BesselK1e", "BesselY0", "BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "IgammaGradA", "Igammac",
    "LeakyReluGrad", "NextAfter", "RandomGammaGrad", "Relu6Grad", "SeluGrad", "SoftsignGrad", "Spence",
})  # fmt: skip
MATMUL = MATMULS | {"_FusedMatMul", "_FusedBatchMatMulV2"}
REDUCTIONS = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "L2Loss"})
# One output row from the same row of each input that has one.
ROWS = SHARES | CROSS_ENTROPIES
# One output sample from the same sample of the first input.
SAMPLES = frozenset({
    "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "_FusedConv2D", "_FusedDepthwiseConv2dNative", "AvgPool",
    "MaxPool", "AvgPool3D", "MaxPool3D", "LRN", "Dilation2D", "ExtractImagePatches", "SpaceToDepth", "DepthToSpace",
    "ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor", "ResizeBilinearGrad",
    "ResizeBicubicGrad", "ResizeNearestNeighborGrad", "ImageProjectiveTransformV2", "ImageProjectiveTransformV3",
    "AdjustHue", "AdjustSaturation", "RGBToHSV", "HSVToRGB",
})  # fmt: skip


def value_inputs(op_type: str, count: int) -> list[int]:
    """The positions of those of `count` inputs whose elements an op gives, or computes with: no shapes, no places."""
    only = VALUES_INPUT.get(op_type, range(count))
    return [at for at in only if at < count and at != SHAPE_INPUT.get(op_type)]


def parts_of(
    node: Node, inputs: Sequence[Array | None], shape: tuple[int, ...], index: Index
) -> tuple[Part | None, ...]:
    """For each input of `node` the elements that made the output element at `index` of an output of `shape`.

    None where an input was not seen, or where the op does not say which elements those are.
    """
    node = as_written(node)
    finder = _FINDERS.get(node.op_type)
    if finder is None:
        return (None,) * len(inputs)
    try:
        found = finder(node, inputs, shape, index)
    except MISFIT:
        found = ()
    if len(found) != len(inputs):
        return (None,) * len(inputs)
    return tuple(part_at(array, where) for array, where in zip(inputs, found, strict=True))


def part_at(array: Array | None, where: PartIndex | None) -> Part | None:
    """The part of `array` that is at `where`; None where one of them is not known, or there is no such part."""
    return None if array is None or where is None or not _fits(where, array) else Part(where, _take(array, where))


def _fits(where: PartIndex, array: Array) -> bool:
    return len(where) == array.ndim and all(i is None or i < size for i, size in zip(where, array.shape, strict=True))


def _take(array: Array, where: PartIndex) -> Array:
    return np.asarray(array[tuple(slice(None) if i is None else i for i in where)])


_Found = Sequence[PartIndex | None]
_Shape = tuple[int, ...]
_Finder = Callable[[Node, Sequence[Array | None], _Shape, Index], _Found]


def _elementwise(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    return [None if array is None else _broadcast(node, array, shape, index) for array in inputs]


def _broadcast(node: Node, array: Array, shape: _Shape, index: Index) -> PartIndex | None:
    """NumPy's rule: axes align at the right, an axis of length 1 repeats."""
    if array.ndim > len(shape):
        return None
    if array.ndim == 1 and len(shape) > 1 and array.shape[0] != 1:
        if node.op_type == "BiasAdd" and "NCHW" in node.attributes.get("data_format", ""):
            return (index[1],)
        if node.op_type == "Select" and array.dtype == np.bool_:
            return (index[0],)
    aligned = index[len(index) - array.ndim :]
    wanted = shape[len(shape) - array.ndim :]
    if any(size not in (1, want) for size, want in zip(array.shape, wanted, strict=True)):
        return None
    return tuple(0 if size == 1 else i for i, size in zip(aligned, array.shape, strict=True))


def _matmul(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    found: list[PartIndex | None] = [None] * len(inputs)
    if len(index) < 2 or len(inputs) < 2:
        return found
    row, column = index[-2], index[-1]
    left_flipped = flag(node, "transpose_a") or flag(node, "adj_x")
    right_flipped = flag(node, "transpose_b") or flag(node, "adj_y")
    for i, core in (
        (0, (None, row) if left_flipped else (row, None)),
        (1, (column, None) if right_flipped else (None, column)),
    ):
        array = inputs[i]
        if array is not None and array.ndim >= 2:
            batch = index[:-2][len(index) - array.ndim :] if array.ndim <= len(index) else ()
            sizes = array.shape[:-2]
            found[i] = (*(0 if size == 1 else b for b, size in zip(batch, sizes, strict=False)), *core)
    for i in range(2, len(inputs)):  # what a fused op adds: a bias over the last axis
        array = inputs[i]
        found[i] = (column,) if array is not None and array.shape == (shape[-1],) else None
    return found


def flag(node: Node, name: str) -> bool:
    """A boolean attribute of `node`, False without one."""
    return node.attributes.get(name, "").strip().lower().endswith("true")


def reduced_axes(op_type: str, source: _Shape, axes: Array | None, shape: _Shape) -> tuple[int, ...] | None:
    """The axes of an input of shape `source` that a reduction to `shape` took together.

    `axes` is the op's second input, if it was seen. None when neither it nor the shapes tell.
    """
    rank = len(source)
    if op_type == "L2Loss":
        return tuple(range(rank))
    if axes is not None and axes.dtype.kind in "iu" and all(-rank <= int(axis) < rank for axis in axes.flat):
        return tuple(sorted({int(axis) % rank for axis in axes.flat}))
    if not shape or all(size == 1 for size in shape):
        return tuple(range(rank))
    if len(shape) == rank:
        return tuple(i for i in range(rank) if shape[i] != source[i])
    ways = [kept for kept in combinations(range(rank), len(shape)) if tuple(source[i] for i in kept) == shape]
    return tuple(i for i in range(rank) if i not in ways[0]) if len(ways) == 1 else None


def _reduction(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    found: list[PartIndex | None] = [None] * len(inputs)
    array = inputs[0] if inputs else None
    if array is None:
        return found
    axes = reduced_axes(node.op_type, array.shape, inputs[1] if len(inputs) > 1 else None, shape)
    if axes is None:
        return found
    kept = [i for i in range(array.ndim) if i not in axes]
    if len(shape) == array.ndim:
        found[0] = tuple(None if i in axes else index[i] for i in range(array.ndim))
    elif len(shape) == len(kept):
        where = dict(zip(kept, index, strict=True))
        found[0] = tuple(where.get(i) for i in range(array.ndim))
    return found


def _rows(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    """The row of the last axis for an op that keeps its shape, else whatever shares the leading indices."""
    if node.op_type in SHARES:
        return [None if a is None or a.shape != shape else (*index[:-1], None) for a in inputs]
    return [None if a is None or not a.ndim or not index else (index[0], *(None,) * (a.ndim - 1)) for a in inputs]


def _accumulated(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    """The whole line through the element along the axis, which is the second input."""
    array, axis = inputs
    if array is None or axis is None or array.shape != shape:
        return [None, None]
    along = int(axis) % len(shape)
    return [(*index[:along], None, *index[along + 1 :]), None]


def _samples(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    first = inputs[0] if inputs else None
    where = None if first is None or not index else (index[0], *(None,) * (first.ndim - 1))
    return [where, *(None,) * (len(inputs) - 1)]


EQUATION = re.compile(r"([A-Za-z,]+)->([A-Za-z]*)")


def _einsum(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    match = EQUATION.search(node.attributes.get("equation", ""))
    if match is None or len(match[2]) != len(index):
        return [None] * len(inputs)
    where = dict(zip(match[2], index, strict=True))
    terms = match[1].split(",")
    return [tuple(where.get(letter) for letter in terms[i]) if i < len(terms) else None for i in range(len(inputs))]


def _concatenated(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    """The one input in whose stretch of the axis the element lies; the axis is the last input."""
    axis = inputs[-1]
    found: list[PartIndex | None] = [None] * len(inputs)
    if axis is None or any(array is None for array in inputs):
        return found
    along, at = int(axis) % len(shape), index[int(axis) % len(shape)]
    for position, array in enumerate(inputs[:-1]):
        assert array is not None
        if at < array.shape[along]:
            found[position] = (*index[:along], at, *index[along + 1 :])
            break
        at -= array.shape[along]
    return found


def _packed(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    along = int(node.attributes.get("axis") or 0) % len(shape)
    found: list[PartIndex | None] = [None] * len(inputs)
    found[index[along]] = (*index[:along], *index[along + 1 :])
    return found


def _same_shape(node: Node, inputs: Sequence[Array | None], shape: _Shape, index: Index) -> _Found:
    return [index if array is not None and array.shape == shape else None for array in inputs]


_FINDERS: Mapping[str, _Finder] = {
    **dict.fromkeys(ELEMENTWISE | TRUTHS, _elementwise),
    **dict.fromkeys(MATMUL, _matmul),
    **dict.fromkeys(REDUCTIONS, _reduction),
    **dict.fromkeys(ROWS, _rows),
    **dict.fromkeys(ACCUMULATIONS, _accumulated),
    **dict.fromkeys(SAMPLES, _samples),
    "Einsum": _einsum,
    "ConcatV2": _concatenated,
    "Pack": _packed,
    "UpdatedVariable": _same_shape,
}
KNOWN = frozenset(_FINDERS)
"""The op types of which `parts_of` can tell."""
