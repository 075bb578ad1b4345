"""Values read from variables of the old kind (`use_resource=False`), which share their memory with the variable.

What such a tensor held is overwritten by an update in the same run, before anybody can look at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from tfdbg_cli.capture.session.call_state import CallState, Variable
from tfdbg_cli.capture.session.reach import ancestors

# Ops that hand on the memory that they are given.
_HANDING_ON = frozenset(
    {"Identity", "Snapshot", "StopGradient", "PreventGradient", "Reshape", "ExpandDims", "Squeeze", "EnsureShape"}
)


def read_before_updates(order: Iterable[Any], state: CallState, fed_names: Collection[str]) -> dict[str, Variable]:
    """By the name of a tensor the variable whose value from before the run it holds.

    Args:
        order: the ops of the call, inputs first.
        state: what they use; only variables of the old kind that the call writes are of interest.
        fed_names: tensors whose ops are not asked.

    """
    found = {variable.tensor.name: variable for variable in state.written if variable.reference}
    holders = set(found)
    for op in order if found else ():
        given = op.inputs[0].name if op.type in _HANDING_ON else ""
        variable = found.get(given)
        if variable is None or op.outputs[0].name in fed_names:
            continue
        writers = {writer.name for writer in variable.writers}
        if not any(need.name in writers for need in ancestors([op], fed_names)):
            found[op.outputs[0].name] = variable
    return {name: variable for name, variable in found.items() if name not in holders}
