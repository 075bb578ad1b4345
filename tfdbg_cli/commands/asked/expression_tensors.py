"""Tensors as they are named in the expressions of `eval`, `set` and their like."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfdbg_cli.commands.asked.result_names import bracketed_result
from tfdbg_cli.commands.asked.tensor_choice import Choice, choose, sliced, split_device
from tfdbg_cli.commands.asked.variable_meant import VariableMeant, held_by, variable_meant
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array, NoValue

_EXECUTION = re.compile(r"^(?P<name>.*?)\[(?P<number>-?\d+)\]$", re.DOTALL)


def tensor_value(context: Context, text: str) -> Array:
    """The array that `text`, found between backticks, means: [DEVICE:]NODE:SLOT[:DebugOp][[EXECUTION]] or a variable.

    Raises:
        TfdbgError: no such tensor, several executions and none named, or no array.

    """
    variable = variable_meant(context.run, text)
    if variable is not None:
        return sliced(_held(context, variable), "")
    choice, number = tensor_named(context, text)
    if choice.slicing:
        raise _slice_within(choice.slicing)
    if number is None and len(choice.indices) > 1:
        last = len(choice.indices) - 1
        raise TfdbgError(
            f"{choice.name} was produced {last + 1} times.",
            hint=f"Write `{choice.name}[0]` to `{choice.name}[{last}]`.",
        )
    value = context.run.tensors.value(choice.execution(number))
    if isinstance(value, NoValue):
        raise TfdbgError(f"{choice.name} has no value: {value.text}")
    return sliced(value, "")


def variables_said(context: Context, texts: Iterable[str]) -> list[str]:
    """For each variable among `texts`, found between backticks, a sentence that says of when its value is."""
    variables = (variable_meant(context.run, text) for text in dict.fromkeys(texts))
    held = ((one, held_by(context, one)) for one in variables if one is not None)
    return [f"{one.name.node} is what the variable {found[1]}." for one, found in held if found is not None]


def _held(context: Context, variable: VariableMeant) -> Array:
    if variable.slicing:
        raise _slice_within(variable.slicing)
    found = held_by(context, variable)
    if found is None:
        node = variable.name.node
        raise TfdbgError(
            f"{node} is a variable, and what it held before the run is not known.",
            hint=f"`pt {quoted(node)}` lists what was captured of it.",
        )
    return found[0]


def _slice_within(slicing: str) -> TfdbgError:
    return TfdbgError(
        f"Inside backticks brackets name an execution, not the slice {slicing}.",
        hint="Put the slice behind the closing backtick.",
    )


def tensor_named(context: Context, text: str) -> tuple[Choice, int | None]:
    """The tensor that `text` means, as `tensor_value`, and which execution of it, if it says so.

    Raises:
        TfdbgError: no such tensor.

    """
    _, called = split_device(text)
    is_result = bracketed_result(context.call, called) == (called, "")
    match = None if is_result else _EXECUTION.match(text)
    name, number = (match["name"], int(match["number"])) if match else (text, None)
    return choose(context, name), number
