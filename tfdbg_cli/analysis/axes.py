"""Which rows of an op's inputs made some rows of its output: along which axis, and which ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.fused_ops import as_written
from tfdbg_cli.analysis.misfit import MISFIT
from tfdbg_cli.analysis.parts import ELEMENTWISE, EQUATION, MATMUL, ROWS, SAMPLES, flag, reduced_axes
from tfdbg_cli.model.control_flow import BRANCHES, LOOPS
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

# Ops whose output has the axes of their first input.
_SAME_AXES = frozenset({
    "Identity", "IdentityN", "StopGradient", "PreventGradient", "FusedBatchNorm", "FusedBatchNormV2", "Snapshot",
    "FusedBatchNormV3", "_FusedBatchNormEx", "Switch", "RefSwitch", "Enter", "RefEnter", "Exit", "NextIteration",
    "_Recv", "_HostRecv", "CheckNumerics", "EnsureShape", "LoopVariable", "TensorListPopBack", "StackPopV2",
    "Softmax", "LogSoftmax", "TopK", "TopKV2", "OneHot", "FakeQuantWithMinMaxVars", "MatrixBandPart", "ZerosLike",
})  # fmt: skip
# Ops that hand on what the functions or branches that they ran gave, with its shape.
_HAND_ON = BRANCHES | LOOPS | {"Merge", "AddN"}


@dataclass(frozen=True)
class Way:
    """Rows of one input: its position, the axis, and which of them."""

    position: int
    axis: int
    rows: Array


@dataclass(frozen=True)
class Rows:
    """Some rows of an op's output along `axis`, with what is known of the op.

    `inputs` are the shapes of the inputs, None for one that was not seen; `value` gives the value of a small one.
    """

    node: Node
    slot: int
    shape: Shape
    axis: int
    rows: Array
    inputs: Sequence[Shape | None]
    value: Callable[[int], Array | None]

    def of(self, position: int) -> Shape | None:
        """The shape of one input, None when there is none, or nobody knows."""
        return self.inputs[position] if -len(self.inputs) <= position < len(self.inputs) else None

    def number(self, position: int) -> int | None:
        """A scalar input such as an axis."""
        found = self.value(position) if -len(self.inputs) <= position < len(self.inputs) else None
        return int(found.reshape(-1)[0]) if found is not None and found.size else None

    def same(self, position: int, axis: int | None = None) -> list[Way]:
        """The same rows of the input at `position` (along `axis`, if it is another one), if it has as many."""
        shape, along = self.of(position), self.axis if axis is None else axis
        fits = shape is not None and 0 <= along < len(shape) and shape[along] == self.shape[self.axis]
        return [Way(position, along, self.rows)] if fits else []


def ways_back(rows: Rows) -> list[Way]:
    """The rows of the inputs that made `rows`; empty where the op mixes them, or does not say."""
    rows = replace(rows, node=as_written(rows.node))
    op = rows.node.op_type
    if op in ELEMENTWISE or op in _HAND_ON:
        # A vector beside a matrix runs along columns, even where it is as long as the batch.
        rank = len(rows.shape)
        return [
            w for i, shape in enumerate(rows.inputs) if shape is not None and len(shape) == rank for w in rows.same(i)
        ]
    finder = _FINDERS.get(op)
    if finder is not None:
        try:
            found = finder(rows)
        except MISFIT:
            return []
        return [way for way in found if _is_there(way, rows.of(way.position))]
    if op in _SAME_AXES:
        return rows.same(0)
    return rows.same(0) if (op in ROWS or op in SAMPLES) and rows.axis == 0 else []


def _is_there(way: Way, shape: Shape | None) -> bool:
    """Whether an input of `shape` has such rows; of a damaged recording it need not."""
    if shape is None or not 0 <= way.axis < len(shape):
        return False
    return bool(((way.rows >= 0) & (way.rows < shape[way.axis])).all())


def _reshaped(rows: Rows) -> list[Way]:
    """Rows behind a change of shape, also where an axis is the product of several, or a part of one."""
    source = rows.of(0)
    if source is None or math.prod(source) != math.prod(rows.shape):
        return []
    (before, inside), size = _around(rows.shape, rows.axis), rows.shape[rows.axis]
    for axis, length in enumerate(source):
        outer, inner = _around(source, axis)
        if (outer, inner, length) == (before, inside, size):
            return [Way(0, axis, rows.rows)]
        if outer == before and inner > inside and length * inner == size * inside:  # [B,T,…] became [B*T,…]
            return [Way(0, axis, np.unique(rows.rows * inside // inner))]
        if outer == before and inner < inside and length * inner >= size * inside and length % size == 0:
            each = length // size  # [B*T,…] became [B,T,…]
            return [Way(0, axis, (rows.rows[:, None] * each + np.arange(each)).reshape(-1))]
    return []


def _around(shape: Shape, axis: int) -> tuple[int, int]:
    """How many elements lie outside of an axis, and how many inside of one of its rows."""
    return math.prod(shape[:axis]), math.prod(shape[axis + 1 :])


def _transposed(rows: Rows) -> list[Way]:
    order = rows.value(1)
    if order is None or order.size != len(rows.shape):
        return []
    return rows.same(0, int(order.reshape(-1)[rows.axis]))


def _multiplied(rows: Rows) -> list[Way]:
    rank = len(rows.shape)
    found: list[Way] = []
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


def _by_equation(rows: Rows) -> list[Way]:
    match = EQUATION.search(rows.node.attributes.get("equation", ""))
    if match is None or rows.axis >= len(match[2]):
        return []
    letter = match[2][rows.axis]
    terms = enumerate(match[1].split(","))
    return [way for i, term in terms if letter in term for way in rows.same(i, term.index(letter))]


def _reduced(rows: Rows) -> list[Way]:
    source = rows.of(0)
    axes = None if source is None else reduced_axes(rows.node.op_type, source, rows.value(1), rows.shape)
    if source is None or axes is None:
        return []
    if len(source) == len(rows.shape):
        return rows.same(0) if rows.axis not in axes else []
    kept = [axis for axis in range(len(source)) if axis not in axes]
    return rows.same(0, kept[rows.axis]) if rows.axis < len(kept) else []


def _largest_place(rows: Rows) -> list[Way]:
    """ArgMax and ArgMin, which take one axis away."""
    source, along = rows.of(0), rows.number(1)
    if source is None or along is None:
        return []
    return rows.same(0, rows.axis + (rows.axis >= along % len(source)))


def _concatenated(rows: Rows) -> list[Way]:
    along = rows.number(-1)
    if along is None:
        return []
    parts = range(len(rows.inputs) - 1)
    if along % len(rows.shape) != rows.axis:
        return [way for i in parts for way in rows.same(i)]
    found: list[Way] = []
    start = 0
    for i in parts:
        shape = rows.of(i)
        if shape is None:
            return []
        inside = rows.rows[(rows.rows >= start) & (rows.rows < start + shape[rows.axis])] - start
        found += [Way(i, rows.axis, inside)] if inside.size else []
        start += shape[rows.axis]
    return found


def _packed(rows: Rows) -> list[Way]:
    along = _attribute(rows, "axis") % len(rows.shape)
    if rows.axis == along:
        return []
    return [way for i in range(len(rows.inputs)) for way in rows.same(i, rows.axis - (rows.axis > along))]


def _unpacked(rows: Rows) -> list[Way]:
    along = _attribute(rows, "axis") % (len(rows.shape) + 1)
    return rows.same(0, rows.axis + (rows.axis >= along))


def _split(rows: Rows) -> list[Way]:
    position, named = (1, 0) if rows.node.op_type == "Split" else (0, 2)
    along, source = rows.number(named), rows.of(position)
    if along is None or source is None:
        return []
    if along % len(source) != rows.axis:
        return rows.same(position)
    sizes = rows.value(1) if rows.node.op_type == "SplitV" else None
    start = rows.slot * rows.shape[rows.axis] if sizes is None else int(sizes.reshape(-1)[: rows.slot].sum())
    return [Way(position, rows.axis, rows.rows + start)]


def _cut(rows: Rows) -> list[Way]:
    """Slice: begin and size along every axis."""
    begin, source = rows.value(1), rows.of(0)
    if source is None or begin is None or begin.size != len(source):
        return []
    return [Way(0, rows.axis, rows.rows + int(begin.reshape(-1)[rows.axis]))]


def _strided(rows: Rows) -> list[Way]:
    """x[begin:end:stride, …], with axes that an index takes away and new ones (StridedSlice in array_ops.cc)."""
    source, begin, strides = rows.of(0), rows.value(1), rows.value(3)
    if source is None or begin is None or strides is None:
        return []
    axis_in = axis_out = 0
    for kind, i in _spec(rows, begin.size, len(source)):
        if kind == "new":
            if axis_out == rows.axis:
                return []
            axis_out += 1
            continue
        if kind != "index" and axis_out == rows.axis:
            if kind == "all":
                return [Way(0, axis_in, rows.rows)]
            step, length = int(strides[i]), source[axis_in]
            first = (0 if step > 0 else length - 1) if kind == "from start" else int(begin[i])
            first = min(max(first + length if first < 0 else first, 0), length)
            return [Way(0, axis_in, np.sort(rows.rows * step + first))]
        axis_in, axis_out = axis_in + 1, axis_out + (kind != "index")
    return []


def _spec(rows: Rows, count: int, rank: int) -> list[tuple[str, int]]:
    """What each entry of a StridedSlice does, and its place among `begin`; what was left out takes all."""
    masks = {name: _attribute(rows, f"{name}_mask") for name in ("begin", "ellipsis", "new_axis", "shrink_axis")}
    kinds = [
        "rest" if masks["ellipsis"] >> i & 1
        else "new" if masks["new_axis"] >> i & 1
        else "index" if masks["shrink_axis"] >> i & 1
        else "from start" if masks["begin"] >> i & 1
        else "range"
        for i in range(count)
    ]  # fmt: skip
    left_out = rank - sum(kind not in ("new", "rest") for kind in kinds)
    kinds_in_place = list(zip([*kinds, *([] if "rest" in kinds else ["rest"])], range(count + 1), strict=False))
    found: list[tuple[str, int]] = []
    for kind, i in kinds_in_place:
        found += [("all", i)] * left_out if kind == "rest" else [(kind, i)]
    return found


def _padded(rows: Rows) -> list[Way]:
    source, pads = rows.of(0), rows.value(1)
    if source is None or pads is None or pads.shape != (len(source), 2):
        return []
    inside = rows.rows - int(pads[rows.axis, 0])
    inside = inside[(inside >= 0) & (inside < source[rows.axis])]
    return [Way(0, rows.axis, inside)] if inside.size else []


def _reversed(rows: Rows) -> list[Way]:
    along, rank = rows.value(1), len(rows.shape)
    if along is None:
        return []
    flipped = rows.axis in {int(axis) % rank for axis in along.flat}
    return [Way(0, rows.axis, np.sort(rows.shape[rows.axis] - 1 - rows.rows))] if flipped else rows.same(0)


def _repeated(rows: Rows) -> list[Way]:
    source = rows.of(0)
    if source is None or len(source) != len(rows.shape) or not source[rows.axis]:
        return []
    return [Way(0, rows.axis, np.unique(rows.rows % source[rows.axis]))]


def _spread(rows: Rows) -> list[Way]:
    source = rows.of(0)
    return [] if source is None else rows.same(0, rows.axis - (len(rows.shape) - len(source)))


def _gathered(rows: Rows) -> list[Way]:
    """The indices along the first axes, and the rows of the table that they name."""
    table, indices = rows.of(0), rows.of(1)
    along = rows.number(2) if len(rows.inputs) > 2 else 0
    if indices is None or along is None or _attribute(rows, "batch_dims"):
        return []
    if along and table is not None:
        along %= len(table)
    if along <= rows.axis < along + len(indices):
        found = rows.same(1, rows.axis - along)
        chosen = rows.value(1)
        if len(indices) == 1 and chosen is not None and table is not None:
            found.append(Way(0, along, np.unique(chosen[rows.rows])))
        return found
    return rows.same(0, rows.axis if rows.axis < along else rows.axis - len(indices) + 1)


def _losses(rows: Rows) -> list[Way]:
    return [*rows.same(0), *rows.same(1)] if rows.axis == 0 else []


def _alignment_losses(rows: Rows) -> list[Way]:
    """CTCLoss: its loss has an element for each row of the batch, its input and its gradient the steps before."""
    return rows.same(0, 1) if rows.axis == (0 if rows.slot == 0 else 1) else []


def _accumulated(rows: Rows) -> list[Way]:
    along, source = rows.number(1), rows.of(0)
    return [] if along is None or source is None or along % len(source) == rows.axis else rows.same(0)


def _slope_of_convolution(rows: Rows) -> list[Way]:
    return rows.same(2) if rows.axis == 0 else []


def _attribute(rows: Rows, name: str) -> int:
    text = rows.node.attributes.get(name, "0").strip()
    return int(text) if text.lstrip("-").isdigit() else 0


_Finder: TypeAlias = Callable[[Rows], list[Way]]
_FINDERS: Mapping[str, _Finder] = {
    **dict.fromkeys(MATMUL, _multiplied),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "All", "Any"), _reduced),
    **dict.fromkeys(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), _losses),
    **dict.fromkeys(("Reshape", "Squeeze", "ExpandDims"), _reshaped),
    **dict.fromkeys(("Cumsum", "Cumprod", "CumulativeLogsumexp"), _accumulated),
    **dict.fromkeys(("ArgMax", "ArgMin"), _largest_place),
    **dict.fromkeys(("Gather", "GatherV2", "ResourceGather"), _gathered),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), _padded),
    **dict.fromkeys(("Split", "SplitV"), _split),
    **dict.fromkeys(("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"), _slope_of_convolution),
    **dict.fromkeys(("CTCLoss", "CTCLossV2"), _alignment_losses),
    "Einsum": _by_equation,
    "Transpose": _transposed,
    "ConcatV2": _concatenated,
    "Pack": _packed,
    "Unpack": _unpacked,
    "ReverseV2": _reversed,
    "Slice": _cut,
    "StridedSlice": _strided,
    "Tile": _repeated,
    "BroadcastTo": _spread,
}
