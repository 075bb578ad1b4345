"""Ops whose output elements are those of their inputs, or smaller in magnitude; signs may change.

A check of magnitudes need not look at such an output if it looks at the inputs. A check that depends on the sign has
to: Neg is in these tables.
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
"""Their outputs never exceed 2 in magnitude (mathematically 1, with a margin for rounding)."""


def copied_inputs(op_type: str, slot: int, count: int) -> range | None:
    """Which of the `count` inputs make up output `slot`, all their elements and no others, up to sign; or None."""
    if op_type in _COPIES and slot == 0:
        return range(1)
    if op_type == "IdentityN":
        return range(slot, slot + 1)
    return range(count)[_JOINED[op_type]] if op_type in _JOINED else None


def bounding_inputs(op_type: str, slot: int, count: int) -> range | None:
    """Which of the `count` inputs bound output `slot`: one of them holds a magnitude at least as large; or None.

    NaN is disregarded. If those inputs are empty, the output is empty or all zero.
    """
    if op_type in _PARTS:
        return range(count)[_PARTS[op_type]]
    return copied_inputs(op_type, slot, count)
