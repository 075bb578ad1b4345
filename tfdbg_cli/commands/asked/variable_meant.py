"""The variable behind a handle that a user names, as `origin` does: such a variable has no tensor of its own."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.analysis.variables.listing import variables_of
from tfdbg_cli.analysis.variables.read_values import is_behind_handle, value_before
from tfdbg_cli.commands.asked.name_endings import the_one_ending_in
from tfdbg_cli.commands.asked.result_names import result_called, split_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, Lack, NoValue


@dataclass(frozen=True, slots=True)
class VariableMeant:
    """The handle of a variable, and the slice asked for, as text."""

    name: TensorName
    slicing: str = ""


def variable_meant(run: Run, text: str) -> VariableMeant | None:
    """The variable that `text` means: NAME[:0][slice]; None where a tensor with numbers has that name, or nothing.

    Raises:
        TfdbgError: the last parts of a name fit several variables.

    """
    written, slicing = split_of(run.call, text)
    for asked, cut in ((text, ""), (written, slicing)):
        name = parse_tensor_name(asked) or TensorName(asked, 0)
        rows = run.tensors.named(name.node, name.slot)
        if any(not _is_handle(run, row) for row in rows):
            return None
        if is_behind_handle(run, name):
            return VariableMeant(name, cut)
    if run.tensors.named(name.node) or name.slot or name.node in run.graph:
        return None
    if result_called(run.call, written):
        return None
    names = [one.name for one in variables_of(run) if is_behind_handle(run, TensorName(one.name, 0))]
    found = the_one_ending_in(name.node, names, "variables")
    return VariableMeant(TensorName(found, 0), slicing) if found in names else None


def held_by(context: Context, variable: VariableMeant) -> tuple[Array, str] | None:
    """What the variable holds at the prompt, and when that was, in words; None where nobody knows.

    In the stepper and in the middle of a run that is what it holds now, otherwise what it held before the run.
    """
    name, paused = variable.name, context.run.paused
    if context.stepper is not None:
        value, when = context.stepper.held(name.node), "holds here by now"
    elif paused is not None and name.node in paused.variables:
        value, when = paused.value(name), "holds now"
    else:
        value, when = value_before(context.run, name), "held before the run"
    return None if value is None else (value, when)


def _is_handle(run: Run, row: int) -> bool:
    element = element_type_named(run.tensors[row].dtype)
    if element is not None and element.numpy is not None:  # of such the value need not be read
        return False
    value = run.tensors.value(row)
    return isinstance(value, NoValue) and value.lack is Lack.OPAQUE
