"""`compare`: the tensors that differ between two runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.difference import Difference, Kind, differences
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command
from tfdbg_cli.commands.registry import Kind as ArgumentKind
from tfdbg_cli.commands.replaying import how_to_replay
from tfdbg_cli.commands.verbs.set_value import base_of
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.patterns import pattern
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, printable
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import Tensor

_STYLES = {
    Kind.BECAME_FINITE: Style.GOOD,
    Kind.BECAME_NONFINITE: Style.ERROR,
    Kind.VALUES: Style.DIM,
}


def _compare(context: Context, options: argparse.Namespace) -> Document:
    first, second = _pair(context, options)
    one, two = context.runs[first], context.runs[second]
    found = list(differences(one.tensors, two.tensors, rtol=options.rtol, atol=options.atol))
    if options.node_name_filter:
        wanted = pattern(options.node_name_filter)
        found = [item for item in found if wanted.search(_tensor(one, two, item).node)]
    head = _head(context, first, second, found)
    blocks = (Text(head), difference_table(one, two, found)) if found else (Text(head),)
    return Document("diff", blocks, lambda: difference_data(one, two, found), "compare")


def _pair(context: Context, options: argparse.Namespace) -> tuple[int, int]:
    """The indices of the two runs: those asked for, else the one looked at and the one that it was made of."""
    count = len(context.runs)
    numbers = [number for number in (options.first, options.second) if number is not None]
    for number in numbers:
        if not 1 <= number <= count:
            raise TfdbgError(f"There is no run {number}: the last one here is {count}.", hint="`runs` lists them.")
    if len(numbers) == 2:
        return numbers[0] - 1, numbers[1] - 1
    if numbers:
        return numbers[0] - 1, context.current
    if context.run.change is not None:
        return base_of(context), context.current
    made = [i for i, run in enumerate(context.runs) if run.change is not None and run.change.base is context.run]
    if made:
        return context.current, made[-1]
    if context.current > 0:
        return context.current - 1, context.current
    hint = "`set TENSOR EXPRESSION` and `again` make one of this run."
    if context.run.what_if is None and isinstance(context.stop, Opened):
        hint = how_to_replay(context.run)
    raise TfdbgError("There is no other run to compare with.", hint=hint)


def _head(context: Context, first: int, second: int, found: Sequence[Difference]) -> tuple[Line, ...]:
    names = (_run_name(context, first), _run_name(context, second))
    title = line(Span(f"{count_text(len(found), 'tensor')} differ{'s' * (len(found) == 1)}", Style.TITLE))
    lines = [title, line(f"  from {printable(names[0])}", "  to ", Span(printable(names[1]), Style.NAME))]
    counts = {kind: sum(item.kind is kind for item in found) for kind in (Kind.BECAME_FINITE, Kind.BECAME_NONFINITE)}
    lines += [
        line(Span(f"  {count_text(count, 'tensor')} {kind}", _STYLES[kind]))
        for kind, count in counts.items()
        if count
    ]
    return (*lines, EMPTY_LINE)


def _run_name(context: Context, index: int) -> str:
    run = context.runs[index]
    return run.change.title if run.change is not None else f"run #{run.call.number}"


def _tensor(first: Run, second: Run, item: Difference) -> Tensor:
    if item.second is not None:
        return second.tensors[item.second]
    assert item.first is not None
    return first.tensors[item.first]


def difference_table(first: Run, second: Run, found: Sequence[Difference]) -> Table:
    """The differences as a table, in order of execution."""
    looped = any(_tensor(first, second, item).execution > 0 for item in found)

    def row(at: int) -> Row:
        item = found[at]
        tensor = _tensor(first, second, item)
        link = "" if item.second is None else tensor_link(second.tensors, item.second)
        counted = item.kind in {Kind.VALUES, Kind.BECAME_FINITE, Kind.BECAME_NONFINITE}
        cells = [
            Span(f"{item.count:,} of {item.size:,}" if counted else "", Style.NUMBER),
            Span(number_text(item.max_abs) if item.max_abs else "", Style.NUMBER),
            Span(number_text(item.max_rel) if item.max_rel else "", Style.NUMBER),
            Span("" if item.kind is Kind.VALUES else str(item.kind), _STYLES.get(item.kind, Style.WARNING)),
        ]
        if looped:
            cells.append(Span(str(tensor.execution), Style.NUMBER))
        return [*cells, Span(printable(str(tensor.name)), Style.NAME, link)]

    columns = [
        Column("Elements", right=True, drop=1),
        Column("max abs", right=True),
        Column("max rel", right=True, drop=2),
        Column("Change"),
    ]
    if looped:
        columns.append(Column("Exec", right=True, width=4))
    return Table((*columns, Column("Tensor name", keep_end=True)), len(found), row)


def difference_data(first: Run, second: Run, found: Sequence[Difference]) -> Mapping[str, Any]:
    """The JSON form: `first`, the name of the first tensor that differs, and `pairs`."""
    pairs = []
    for item in found:
        tensor = _tensor(first, second, item)
        pairs.append(
            {
                "name": str(tensor.name),
                "execution": tensor.execution,
                "device": tensor.device,
                "op_type": tensor.op_type,
                "change": str(item.kind),
                "differing": item.count,
                "size": item.size,
                "max_abs": item.max_abs,
                "max_rel": item.max_rel,
            }
        )
    return {"first": pairs[0]["name"] if pairs else None, "pairs": pairs}


COMMAND = Command(
    "compare",
    ("cmp",),
    "List the tensors that differ between two runs.",
    _compare,
    (
        Argument(("first",), "a run, counted as `runs` does", metavar="N", type=int, nargs="?"),
        Argument(("second",), "another one", metavar="M", type=int, nargs="?"),
        Argument(("-n", "--node_name_filter"), "only these nodes", ArgumentKind.NODE, metavar="REGEX", default=""),
        Argument(("--rtol",), "relative difference that does not count", metavar="R", type=float, default=0.0),
        Argument(("--atol",), "absolute difference that does not count", metavar="A", type=float, default=0.0),
    ),
    moments=WITH_TENSORS,
    details="""\
Without numbers the run looked at is compared with the one it was made of by `again`, else with the one before it.
Tensors stand in the order of their execution, so the first one is where the runs part. Relative is to the larger of
both elements; a NaN equals a NaN.

Examples:
  compare                  the program's run and what `again` made of it
  compare 3 5 --rtol 1e-5  two of the runs that `runs` lists""",
)
