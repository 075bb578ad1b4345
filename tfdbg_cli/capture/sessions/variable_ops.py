"""The ops that read, write and ask for a variable of a session's graph, of the new kind or the old one."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.capture.sessions.hidden_ops import NewOp, Operand
from tfdbg_cli.capture.tf.types import DType, Op, SymbolicTensor


def place_for(dtype: DType) -> NewOp:
    """A placeholder of any shape, by which a value is fed."""
    return NewOp("Placeholder", (), {"dtype": dtype})


def write(variable: SymbolicTensor, value: Operand, dtype: DType, device: str, *, reference: bool = False) -> NewOp:
    """Write `value` into `variable`: a handle, or with `reference` a reference, as of `use_resource=False`."""
    if reference:
        return NewOp("Assign", [variable, value], {"T": dtype, "validate_shape": False}, (), device)
    return NewOp("AssignVariableOp", [variable, value], {"dtype": dtype}, (), device)


def read(
    variable: SymbolicTensor, dtype: DType, device: str, after: Sequence[Op] = (), *, reference: bool = False
) -> NewOp:
    """Read `variable`, a handle or with `reference` a reference, once the ops `after` are over."""
    if reference:
        return NewOp("Identity", [variable], {"T": dtype}, after, device)
    return NewOp("ReadVariableOp", [variable], {"dtype": dtype}, after, device)


def has_value(variable: SymbolicTensor, dtype: DType, device: str, *, reference: bool = False) -> NewOp:
    """Ask whether `variable`, a handle or with `reference` a reference, was ever given a value."""
    if reference:
        return NewOp("IsVariableInitialized", [variable], {"dtype": dtype}, (), device)
    return NewOp("VarIsInitializedOp", [variable], {}, (), device)
