"""Ops whose output holds nothing but elements of their inputs, or smaller ones.

What is asked of the size of elements need not be asked of their outputs, where it is asked of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# All elements of the first input, and no others; the sign may change.
_COPIES = frozenset({
    "Identity", "StopGradient", "PreventGradient", "Snapshot", "DeepCopy", "Reshape", "ExpandDims", "Squeeze",
    "Transpose", "ConjugateTranspose", "Reverse", "ReverseV2", "Roll", "CheckNumerics", "CheckNumericsV2",
    "EnsureShape", "Neg", "Conj", "Abs", "DepthToSpace", "SpaceToDepth", "BroadcastTo", "Tile",
})  # fmt: skip
# For each slot the input of that slot.
_EACH = frozenset({"IdentityN"})
_JOINED: Mapping[str, slice] = MappingProxyType({
    "Pack": slice(None), "ConcatV2": slice(None, -1), "Concat": slice(1, None),
})  # fmt: skip
# Some of the elements, zeros, or numbers between an element and zero. By op type the inputs whose elements they are.
_PARTS: Mapping[str, slice] = MappingProxyType({
    **dict.fromkeys((
        "Slice", "StridedSlice", "SplitV", "Unpack", "Gather", "GatherV2", "GatherNd", "Pad", "MirrorPad", "Relu",
        "Relu6", "ReluGrad", "Relu6Grad", "MatrixBandPart", "MatrixDiagPart", "MatrixDiag", "Diag", "DiagPart",
        "SpaceToBatchND", "BatchToSpaceND", "Real", "Imag", "DynamicPartition",
    ), slice(1)),
    "Split": slice(1, 2), "Select": slice(1, 3), "SelectV2": slice(1, 3),
    "Maximum": slice(2), "Minimum": slice(2), "PadV2": slice(0, 3, 2),
})  # fmt: skip
AT_MOST_TWO = frozenset({
    "ZerosLike", "OnesLike", "Sigmoid", "Tanh", "Sin", "Cos", "Erf", "Sign", "Softsign", "Softmax", "RandomUniform",
    "StatelessRandomUniform", "StatelessRandomUniformV2",
})  # fmt: skip
"""What they give is never larger than 2 (their range ends at 1; rounding is not trusted)."""


def copied_inputs(op_type: str, slot: int, count: int) -> range | None:
    """The inputs, of `count`, of whose elements output `slot` consists, all of them; None for other ops."""
    if op_type in _COPIES and slot == 0:
        return range(1)
    if op_type in _EACH:
        return range(slot, slot + 1)
    return range(count)[_JOINED[op_type]] if op_type in _JOINED else None


def bounding_inputs(op_type: str, slot: int, count: int) -> range | None:
    """The inputs, of `count`, one of which holds an element at least as large as any of output `slot`; or None.

    NaN is no element here; the output is empty, or all zero, where the inputs have no elements.
    """
    if op_type in _PARTS:
        return range(count)[_PARTS[op_type]]
    return copied_inputs(op_type, slot, count)
