"""What is said where a value stands in whose place the program, stopped behind its op, is given another one."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.summary import chip
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.values import Array


def given_instead(context: Context, shown: Iterable[str]) -> list[Line]:
    """A line for each of the tensors `shown`, by their names, of which the program is given another value."""
    paused = context.run.paused
    if paused is None:
        return []
    names = {tensor_name_of(name) for name in shown}
    return [_line(name, paused.value(name)) for name in paused.pending if name in names]


def _line(name: TensorName, value: Array) -> Line:
    said = f"This is what the op gave. By `set` the program is given another {name}: "
    return line(Span(said, Style.WARNING), *chip(value, name_of(value.dtype)).spans)
