"""What a call fetches and is fed, or what a function is given, captured and returns: blocks for `run_info`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfdbg_cli.analysis.scalar_results import scalar_results
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.summary import number_span
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.units import count_text

_INDENT = Column("")
_COLUMNS = (_INDENT, Column("Name"), Column("dtype"), Column("Shape"))


def call_blocks(context: Context) -> list[Block]:
    """The names of `context`'s call, each leading to its value."""
    call = context.call
    if call.kind is RunKind.EAGER and not (call.arguments or call.fetches):
        return []  # the turn of a loop is given nothing, and gives nothing back
    if call.kind in (RunKind.FUNCTION, RunKind.EAGER, RunKind.GRAPH) and (call.function or call.arguments):
        given = [argument for argument in call.arguments if not argument.captured]
        captured = [argument for argument in call.arguments if argument.captured]
        blocks = _arguments("Arguments", given, call)
        blocks += _arguments("Captured", captured, call) if captured else []
        return [*blocks, *_results("Returns", context)]
    lines = _names("Operations", ((name, f"ni {quoted(name)}") for name in call.targets)) if call.targets else []
    feeds = _names("Feeds", ((name, f"pf {quoted(name)}") for name in call.feeds))
    return [*_results("Fetches", context), Text((*lines, *feeds))]


def _results(heading: str, context: Context) -> list[Block]:
    """A row for each tensor that comes back: what the program calls it, and the number if it is a single one."""
    call = context.call
    has_not_run = isinstance(context.stop, RunStart) or call.kind is RunKind.GRAPH
    verb = "ni" if has_not_run else "pt"
    values = {} if has_not_run else {str(result.tensor): result.value for result in scalar_results(context.run)}
    names = call.names_of_fetches
    named = any(names)

    def row(at: int) -> Row:
        tensor = call.results[at]
        value = number_span(values[tensor]) if tensor in values else Span("")
        name = (Span(names[at], Style.LABEL),) if named else ()
        return (Span(""), *name, Span(tensor, Style.NAME, f"{verb} {quoted(tensor)}"), value)

    columns = (_INDENT, *((Column("Name"),) if named else ()), Column("Tensor", subject=True), Column("Value"))
    count = len(call.results)
    blocks: list[Block] = [Text((_heading(heading, count), *([] if count else [line("  none")])))]
    blocks += [Table(columns, count, row, show_head=False)] if count else []
    handed = f"  and {count_text(call.for_gradient, 'tensor')} for its gradient alone"
    return [*blocks, Text((line(handed),))] if call.for_gradient else blocks


def _names(heading: str, named: Iterable[tuple[str, str]]) -> list[Line]:
    rows = [line("  ", Span(name, Style.NAME, link)) for name, link in named]
    return [_heading(heading, len(rows)), *(rows or [line("  none")])]


def _heading(text: str, count: int) -> Line:
    return line(Span(f"{text} ({count})", Style.HEADING))


def _arguments(heading: str, arguments: Sequence[CallArgument], call: Call) -> list[Block]:
    """One row each; what has a value leads to it."""
    if not arguments:
        return [Text((_heading(heading, 0), line("  none")))]

    def row(i: int) -> Row:
        argument = arguments[i]
        link = f"pf {quoted(argument.name)}" if argument.name in call.feeds else ""
        if call.kind is RunKind.GRAPH and argument.name:
            link = f"ni {quoted(argument.name)}"
        return (
            Span(""),
            Span(argument.name, Style.NAME, link),
            Span(argument.dtype),
            Span(argument_shape(argument), Style.NUMBER),
        )

    return [Text((_heading(heading, len(arguments)),)), Table(_COLUMNS, len(arguments), row, show_head=False)]


def argument_shape(argument: CallArgument) -> str:
    """`[4,?]`; nothing where the value has no shape."""
    if argument.shape is None:
        return ""
    return f"[{','.join('?' if length is None else str(length) for length in argument.shape)}]"


def argument_data(call: Call) -> list[dict[str, Any]]:
    """The JSON form of the arguments: {name, dtype, shape, captured}; unknown lengths are null."""
    return [
        {
            "name": argument.name,
            "dtype": argument.dtype,
            "shape": None if argument.shape is None else list(argument.shape),
            "captured": argument.captured,
        }
        for argument in call.arguments
    ]
