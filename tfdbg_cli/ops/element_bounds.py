"""Ops whose output holds nothing but elements of their inputs, or smaller ones; the sign may be another.

What is asked of the magnitude of elements need not be asked of their outputs, where it is asked of the inputs. What
is asked of the sign must be: Neg is in these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tfdbg_cli.ops.kinds import CHECKS, RELUS, REPEATS, SAME_ELEMENTS, SELECTS, SIGNS

# All elements of the first input, and no others; the sign may change.
_COPIES = SAME_ELEMENTS | CHECKS | REPEATS | SIGNS | {
    "DeepCopy", "ConjugateTranspose", "CheckNumericsV2", "Conj", "DepthToSpace", "SpaceToDepth",
}  # fmt: skip
_JOINED: Mapping[str, slice] = MappingProxyType({
    "Pack": slice(None), "ConcatV2": slice(None, -1), "Concat": slice(1, None),
})  # fmt: skip
# Some of the elements, zeros, or numbers between an element and zero. By op type the inputs whose elements they are.
_PARTS: Mapping[str, slice] = MappingProxyType({
    **dict.fromkeys((
        "Slice", "StridedSlice", "SplitV", "Unpack", "Gather", "GatherV2", "GatherNd", "Pad", "MirrorPad", *RELUS,
        "ReluGrad", "Relu6Grad", "MatrixBandPart", "MatrixDiagPart", "MatrixDiag", "Diag", "DiagPart",
        "SpaceToBatchND", "BatchToSpaceND", "Real", "Imag", "DynamicPartition",
    ), slice(1)),
    "Split": slice(1, 2), **dict.fromkeys(SELECTS, slice(1, 3)),
    "Maximum": slice(2), "Minimum": slice(2), "PadV2": slice(0, 3, 2),
})  # fmt: skip
AT_MOST_TWO = frozenset({
    "ZerosLike", "OnesLike", "Sigmoid", "Tanh", "Sin", "Cos", "Erf", "Sign", "Softsign", "Softmax", "RandomUniform",
    "StatelessRandomUniform", "StatelessRandomUniformV2",
})  # fmt: skip
"""What they give is never larger than 2 (their range ends at 1; rounding is not trusted)."""


def copied_inputs(op_type: str, slot: int, count: int) -> range | None:
    """The inputs, of `count`, all of whose elements make up output `slot`, signs aside; None for other ops."""
    if op_type in _COPIES and slot == 0:
        return range(1)
    if op_type == "IdentityN":
        return range(slot, slot + 1)
    return range(count)[_JOINED[op_type]] if op_type in _JOINED else None


def bounding_inputs(op_type: str, slot: int, count: int) -> range | None:
    """The inputs, of `count`, one of which holds an element at least as large as any of output `slot`; or None.

    NaN is no element here; the output is empty, or all zero, where the inputs have no elements.
    """
    if op_type in _PARTS:
        return range(count)[_PARTS[op_type]]
    return copied_inputs(op_type, slot, count)
