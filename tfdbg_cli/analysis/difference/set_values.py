"""What `set` put in the place of tensors and variables in a run that was computed with it."""

from __future__ import annotations

from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import VARIABLE_READS


def set_in(run: Run, name: TensorName, node: Node | None) -> TensorName | None:
    """What `set` replaced in `run` that its tensor `name`, which `node` gives, holds.

    That is the tensor itself, or the variable that is read; None where neither was replaced.
    """
    replaced = run.replaced
    if name in replaced:
        return name
    read = node.inputs[0] if node is not None and node.op_type in VARIABLE_READS and node.inputs else None
    return read if read in replaced else None
