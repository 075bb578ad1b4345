"""The ops that read and write a variable of a session's graph, of the new kind or the old one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdbg_cli.capture.sessions.hidden_ops import NewOp, Operand


def holder_of(dtype: Any) -> NewOp:
    """A place of any shape, into which a value is fed."""
    return NewOp("Placeholder", (), {"dtype": dtype})


def write(variable: Any, value: Operand, dtype: Any, device: str, *, reference: bool = False) -> NewOp:
    """Write `value` into `variable`: a handle, or with `reference` a reference, as of `use_resource=False`."""
    if reference:
        return NewOp("Assign", [variable, value], {"T": dtype, "validate_shape": False}, (), device)
    return NewOp("AssignVariableOp", [variable, value], {"dtype": dtype}, (), device)


def read(variable: Any, dtype: Any, device: str, after: Sequence[Any] = (), *, reference: bool = False) -> NewOp:
    """Read `variable` behind the ops `after`."""
    if reference:
        return NewOp("Identity", [variable], {"T": dtype}, after, device)
    return NewOp("ReadVariableOp", [variable], {"dtype": dtype}, after, device)
