"""`frequencies`: how often each value of a column stands in the list of tensors."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT, query_line, unjudged_line
from tfdbg_cli.commands.query.language import FactTest, written
from tfdbg_cli.commands.query.tensor_listing import find, find_in_steps
from tfdbg_cli.commands.registry import LOOKING, Argument, Command, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.units import bytes_text, count_text, shape_text

_COLUMNS = ("op", "dtype", "shape", "rank", "device", "layer", "role", "execution")


@dataclass(slots=True)
class _Sum:
    """What the tensors of one value come to."""

    tensors: int = 0
    nbytes: int = 0


def _counted(command: Command, context: Context, options: argparse.Namespace, listed: argparse.Namespace) -> Document:
    """What `command` answers; `listed` are the flags of `lt` for the tensors that are counted."""
    store, tell = context.run.tensors, _teller(context, options.column)
    listing = find(context, listed)
    indices = listing.indices
    sums: dict[str, _Sum] = {}
    for index in indices:
        tensor = store[index]
        total = sums.setdefault(tell(tensor), _Sum())
        total.tensors += 1
        total.nbytes += tensor.nbytes or 0
    found = sorted(sums.items(), key=lambda item: -item[1].tensors)
    most = found[0][1].tensors if found else 1

    def row(i: int) -> Row:
        value, total = found[i]
        share = total.tensors / len(indices)
        return (
            Span(f"{total.tensors:,}", Style.NUMBER),
            Span(f"{share:.0%}" if share >= 0.005 else "<1%", Style.NUMBER),
            Span(bytes_text(total.nbytes), Style.NUMBER),
            Span("█" * max(1, round(_BAR * total.tensors / most)), Style.DIM),
            Span(value or "none", Style.NAME if value else Style.DIM, _link(options, value)),
        )

    columns = (
        Column("Tensors", right=True),
        Column("%", right=True),
        Column("Size", right=True, drop=1),
        Column("", width=_BAR, drop=2),
        Column(options.column),
    )
    values = count_text(len(found), "value")
    head = [line(Span(f"{values} of {options.column} in {count_text(len(indices), 'tensor')}", Style.TITLE))]
    if options.query:
        everything = command.spell(options, query="")
        head.append(query_line(options.query, len(indices), len(store), everything))
    if listing.unjudged:
        head.append(unjudged_line(listing.unjudged))
    head.append(_others(command, options))
    blocks: list[Block] = [Text((*head, EMPTY_LINE))]
    if found:
        blocks.append(Table(columns, len(found), row))
    asked = f"[{options.query}]: {len(indices):,} of {len(store):,}" if options.query else ""
    title = f"frequencies of {options.column}{asked}"
    return Document("frequencies", tuple(blocks), lambda: _data(options, sums, listing.unjudged), title)


_BAR = 20  # columns of the longest bar


def _others(command: Command, options: argparse.Namespace) -> Line:
    """The columns that can be counted, each but the one on show a link."""
    spans = [Span("by", Style.DIM)]
    for name in _COLUMNS:
        is_shown = name == options.column
        link = "" if is_shown else command.spell(options, column=name)
        spans += [Span(" "), Span(name, Style.TITLE if is_shown else Style.PLAIN, link)]
    return Line(tuple(spans))


def _teller(context: Context, column: str) -> Callable[[Tensor], str]:
    """What gives the value of a tensor in `column`, as a query compares it; empty where it has none."""
    graph = context.run.graph

    def op_type(tensor: Tensor) -> str:
        node = graph.find(tensor.node)
        return node.op_type if node is not None else tensor.op_type

    tellers: Mapping[str, Callable[[Tensor], str]] = {
        "op": op_type,
        "dtype": lambda tensor: tensor.dtype,
        "shape": lambda tensor: "" if tensor.shape is None else shape_text(tensor.shape),
        "rank": lambda tensor: "" if tensor.shape is None else str(len(tensor.shape)),
        "device": lambda tensor: short_device(tensor.device),
        "layer": lambda tensor: scope_text(layers_of(graph).layer(tensor.node)),
        "role": lambda tensor: str(tensor_role(graph, tensor) or ""),
        "execution": lambda tensor: str(tensor.execution),
    }
    return tellers[column]


def _link(options: argparse.Namespace, value: str) -> str:
    """The list of the tensors that have `value`."""
    if not value:
        return ""
    asked = written(FactTest(options.column, "=", value))
    return f"lt -q {quoted(f'({options.query}) {asked}' if options.query else asked)}"


def _data(options: argparse.Namespace, sums: Mapping[str, _Sum], unjudged: int) -> dict[str, object]:
    rows = [{"value": value, "tensors": total.tensors, "nbytes": total.nbytes} for value, total in sums.items()]
    told = {"unread": unjudged} if unjudged else {}
    return {"column": options.column, "query": options.query or None, "values": rows, **told}


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command; which tensors it counts `list_tensors` in `registry` says, of the same query."""

    def listed(options: argparse.Namespace) -> argparse.Namespace:
        return registry.find("list_tensors").parse(["-q", options.query] if options.query else [])

    def answer(context: Context, options: argparse.Namespace) -> Document:
        return _counted(command, context, options, listed(options))

    def in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
        yield from find_in_steps(context, listed(options))

    command = Command(
        "frequencies",
        ("fq",),
        "How often each value of a column stands in the list of tensors.",
        answer,
        (
            Argument(
                ("column",),
                f"one of {', '.join(_COLUMNS)}; without one, op",
                choices=_COLUMNS,
                nargs="?",
                default=_COLUMNS[0],
            ),
            QUERY_ARGUMENT,
        ),
        moments=LOOKING,
        values=True,
        steps=in_steps,
        details="""\
The most frequent value stands on top; each leads to its tensors. The other columns stand above the table.

Examples:
  frequencies op
  fq layer -q 'nan>0'     which layers hold NaN, and in how many tensors""",
    )
    return (command,)
