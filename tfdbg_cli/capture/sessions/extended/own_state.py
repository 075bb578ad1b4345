"""Ops whose kernels keep a state of their own, so that another op of the same kind would not do the same.

The state of most ops lies elsewhere: in a variable, a queue or a table that they are given, or under a name that is
an attribute. What remains are kernels like that of RandomUniform, which counts the numbers that it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, RESOURCE
from tfdbg_cli.ops.effects import keeps_own_state
from tfdbg_cli.ops.kinds import CALLS

_CALLS = CALLS | {"XlaLaunch"}  # what they call is looked at by itself, or compiled


def keeps_state(op_type: str, attribute: Callable[[str], object], input_types: Iterable[int]) -> bool:
    """Whether the kernel of an op keeps a state of its own from run to run, or may do so.

    Args:
        op_type: its type.
        attribute: gives its attributes by name as Python values, None for one that it lacks.
        input_types: the numbers of the element types of what it reads.

    """
    definition = compat.op_definition(op_type)
    if definition is None:
        return True
    if not definition.is_stateful or op_type in _CALLS or not keeps_own_state(op_type):
        return False
    if any(kind == RESOURCE or kind >= FIRST_REFERENCE for kind in input_types):
        return False
    if attribute("shared_name"):
        return False
    # Without a seed the numbers are others each time anyway.
    return not (attribute("seed") == 0 and attribute("seed2") == 0)
