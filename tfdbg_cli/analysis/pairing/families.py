"""Op types that stand for one another where two versions of a program, or of TensorFlow, are compared."""

from __future__ import annotations

from collections.abc import Mapping

from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.model.graph import Node
from tfdbg_cli.ops.kinds import (
    CASES,
    CHECKS,
    CONCATENATIONS,
    CONDITIONS,
    COPIES,
    DEBUG_COPIES,
    GATHERS,
    INPUTS,
    LONG_SUMS,
    LOOPS,
    MATMULS,
    NORMALIZATION_GRADIENTS,
    NORMALIZATIONS,
    PLAIN_CALLS,
    QUOTIENTS,
    REFERENCE_VARIABLES,
    SELECTS,
)

SOURCE = "source"
_SOURCES = INPUTS | REFERENCE_VARIABLES | {"Const", "ReadVariableOp"}
"""What they give comes from outside, or from before: one program may feed what another one has in a variable."""
SEEN_THROUGH = COPIES | CHECKS | DEBUG_COPIES | {"RefIdentity", "Cast"}
"""They give their first input, if in another type: one program may have more of them than another."""
_FAMILIES: Mapping[str, frozenset[str]] = {
    SOURCE: _SOURCES,
    "Add": frozenset({"Add", "AddV2", "BiasAdd"}),
    "AddN": LONG_SUMS,
    "Div": QUOTIENTS,
    "MatMul": MATMULS,
    "FusedBatchNorm": NORMALIZATIONS,
    "FusedBatchNormGrad": NORMALIZATION_GRADIENTS,
    "PartitionedCall": PLAIN_CALLS,
    "If": CONDITIONS,
    "Case": CASES,
    "While": LOOPS,
    "Select": SELECTS,
    "Gather": GATHERS,
    "Concat": CONCATENATIONS,
    "Pad": frozenset({"Pad", "PadV2"}),
}
_FAMILY = {op_type: family for family, op_types in _FAMILIES.items() for op_type in op_types}
COMMUTATIVE = frozenset({"Add", "Mul", "Maximum", "Minimum", "SquaredDifference", "LogicalAnd", "LogicalOr"})
"""Families of ops whose two inputs may change places."""


def is_source(op_type: str) -> bool:
    """Whether what ops of this type give comes from outside, or from before."""
    return op_type in _SOURCES


def family_of(node: Node) -> str:
    """What ops of its kind are called here; the op type where no other one stands for it."""
    op_type = as_written(node).op_type
    return _FAMILY.get(op_type, op_type)
