"""The cause in a run that was made with other values: what `set` gave it, or what `set` left as it was."""

from __future__ import annotations

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.flow.last_update import variable_shown
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array, known_array

BY_SET = Cause("`set` gave it this value.")


def still_held(run: Run, node: Node, bad: Array) -> Cause | None:
    """The cause where `node` is, or shows, a variable that was bad before, and `set` replaced only what was read.

    `bad` marks the elements that are bad in it; None where they were finite as the program's run read them.
    """
    change = run.change
    if change is None:
        return None
    shows = node.op_type == UPDATED_VARIABLE and bool(node.inputs)
    variable = node.inputs[0] if shows else TensorName(node.name, 0)
    reads = [one for one in change.replaced if _reads(run, one, variable)]
    if not any(_was_bad(change, one, bad) for one in reads):
        return None
    name = variable_shown(node) if shows else node.name
    return Cause(
        f"Variable {name} held it before this run, and still does: `set` replaced what was read from it,"
        f" {names_text(list(map(str, reads)))}, and not the variable, from which its update goes on.",
        f"`set {name} EXPRESSION` replaces the variable itself, with all that is read from it.",
    )


def _reads(run: Run, name: TensorName, variable: TensorName) -> bool:
    node = run.graph.find(name.node)
    return node is not None and node.op_type == "ReadVariableOp" and node.inputs[:1] == (variable,)


def _was_bad(change: Change, name: TensorName, bad: Array) -> bool:
    """Whether each element that is `bad` was so already where the program's run read it as `name`."""
    rows = change.base.tensors.named(name.node, name.slot)
    value = known_array(change.base.tensors.value(rows[0])) if rows else None
    return value is not None and value.shape == bad.shape and not (bad & ~nonfinite_mask(value)).any()
