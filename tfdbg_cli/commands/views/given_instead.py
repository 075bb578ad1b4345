"""What is said where a value stands in whose place the program, stopped behind its op, is given another one."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.summary import chip
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.given_by_set import assigned_to, given_in_place_of, replaced_by
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.pausing import Replaceable
from tfdbg_cli.model.runs import Run


def given_instead(context: Context, shown: Iterable[str]) -> list[Line]:
    """A line for each of the tensors `shown`, of which the program got another value, or which is that."""
    run, names = context.run, {tensor_name_of(name) for name in shown}
    paused = run.paused
    pending = () if paused is None else [name for name in paused.pending if name in names]
    lines = [] if paused is None else [_line("This is what the op gave. ", paused, name) for name in pending]
    lines += [_behind(name, given) for name, given in given_in_place_of(run.graph, names)]
    nodes = [node for name in names if (node := run.graph.find(name.node)) is not None]
    lines += [_set(replaced_by(node)) for node in nodes if replaced_by(node)]
    variables = [assigned_to(run.graph, node) for node in nodes]
    return [*lines, *(_assigned(variable) for variable in variables if variable)]


def pending_instead(run: Run, held: str = "This run holds what the op gave. ") -> list[Line]:
    """A line for each tensor of `run` of which the program is given another value; `held` is said before."""
    paused = run.paused
    return [] if paused is None else [_line(held, paused, name) for name in paused.pending]


def _set(replaced: str) -> Line:
    link = Span(replaced, Style.NAME, f"pt {quoted(replaced)}")
    return line(Span("By `set` the program was given this in place of what the op gave, ", Style.WARNING), link, ".")


def _assigned(variable: str) -> Line:
    return line(Span(f"By `set` this was assigned to variable {variable}.", Style.WARNING))


def _behind(name: TensorName, given: TensorName) -> Line:
    link = Span(str(given), Style.NAME, f"pt {quoted(str(given))}")
    said = f"This is what the op gave. By `set` the program was given another {name}, which stands here as "
    return line(Span(said, Style.WARNING), link, ".")


def _line(held: str, paused: Replaceable, name: TensorName) -> Line:
    value, said = paused.value(name), f"{held}By `set` the program is given another {name}: "
    return line(Span(said, Style.WARNING), *chip(value, name_of(value.dtype)).spans)
