"""`trends`: norms of gradients, weights and updates, layer by layer, over the runs that are kept or recorded."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.analysis.many_runs.trends import Trends
from tfdbg_cli.commands.context import HOW_TO_KEEP_RUNS, Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.other_calls import made_left_out, of_other_calls
from tfdbg_cli.commands.views.trend_page import chosen_series, series_blocks, trends_of
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.sparkline import signs
from tfdbg_cli.document.summary import number_span, number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.series import Quantity, Series
from tfdbg_cli.model.units import count_text

_CURVE, _LEAST = 24, 14  # columns; of a name as few
_NOTHING = "Nothing in these runs is a gradient, or a variable that the forward pass reads before the run writes it."


def _trends(context: Context, options: argparse.Namespace) -> Document:
    found = trends_of(context, everything=options.all)
    series = chosen_series(found, options)
    left = _ROWS.left(options.query, series, COMMAND.spell(options, query=""))
    blocks: list[Block] = [Text((*_head(context, found, series, options), *left.head, EMPTY_LINE))]
    if len(series) == len(left.rows) == 1:
        blocks += series_blocks(context, series[0])
    elif left.rows:
        blocks.append(_overview(left.rows))
    return Document(
        "trends",
        tuple(blocks),
        lambda: {"series": list(map(_data, left.rows)), "untold": found.untold, **left.data},
        left.title("trends"),
    )


def _among_finite(choose: Callable[[Iterable[float]], float]) -> Callable[[Series], float]:
    """What tells the chosen one of the finite norms of a series; NaN where there is none."""

    def chosen(series: Series) -> float:
        finite = [value for value in series.values if math.isfinite(value)]
        return choose(finite) if finite else math.nan

    return chosen


def _how_many(test: Callable[[float], bool]) -> Callable[[Series], float]:
    return lambda series: sum(map(test, series.values))


_ROWS = PlainRows[Series](
    "a norm",
    lambda series: f"{series.name} {series.quantity}",
    {"name": lambda series: series.name, "layer": lambda series: series.name},
    {
        "nan": _how_many(math.isnan),
        "inf": _how_many(math.isinf),
        "bad": _how_many(lambda value: not math.isfinite(value)),
        "min": _among_finite(min),
        "max": _among_finite(max),
    },
    elements=lambda series: len(series.values),
)


def _reach(steps: Sequence[int]) -> str:
    """The first and the last of the runs, by number."""
    return f"#{steps[0]}" if len(steps) == 1 else f"#{steps[0]} to #{steps[-1]}"


def _head(context: Context, found: Trends, series: Sequence[Series], options: argparse.Namespace) -> list[Line]:
    steps = sorted({step for one in found.series for step in one.steps})
    what = "L2 norms, layer by layer"
    if len(series) == 1:
        what = f"L2 norm of the {series[0].quantity} of {series[0].name}"
    over = f" over {count_text(len(steps), 'run')}, {_reach(steps)}" if steps else ""
    lines = [line(Span(what, Style.TITLE), Span(over, Style.DIM))]
    if found.unreadable:
        lines.append(line(Span(f"{count_text(found.unreadable, 'run')} cannot be read.", Style.WARNING)))
    everything = "" if options.all else COMMAND.spell(options, all=True)
    lines += [*of_other_calls(context, len(context.runs) - found.others, everything), *made_left_out(context)]
    if found.untold:
        lack = "there are neither values nor mean and std, so no norm is known."
        lines.append(line(Span(f"Of {count_text(found.untold, 'gradient')} {lack}", Style.WARNING)))
    elif not series:
        lines.append(line(Span(_NOTHING, Style.HINT)))
    if len(steps) < 2 and not isinstance(context.stop, Opened):
        lines += _how_to_see_more(context, found.others - context.made_count, everything)
    return lines


def _how_to_see_more(context: Context, others: int, everything: str) -> list[Line]:
    """What to do where there are norms of one run at most: look at those that are kept, or have some kept.

    `others` of the runs that are kept are not of this function, and the command `everything` takes those, too.
    """
    if others and everything:
        what = f"{count_text(others, 'run')} of other functions or fetches left out: "
        return [line(Span(what, Style.HINT), Span(everything, Style.KEY, everything))]
    said = _how_to_keep_more(context, everything)
    return [] if said is None else [said]


def _how_to_keep_more(context: Context, everything: str) -> Line | None:
    """What to do where no run that is kept is left out; None where several are kept, and hold no more."""
    beside = None if isinstance(context.stop, Opened) else context.stop.beside
    if beside is None or not beside.keeps_norms:
        if len(context.runs) > 1:
            return None
        return line(Span(f"{HOW_TO_KEEP_RUNS} `tfdbg run --trends` keeps norms of all of it.", Style.HINT))
    kept = {same for same, series in beside.trends.items() if series}
    if everything and kept - {context.call.same}:
        return line(Span("Norms of other functions are kept: ", Style.HINT), Span(everything, Style.KEY, everything))
    if beside.trends and not kept:
        return line(Span("In the runs whose norms were to be kept so far there are none.", Style.HINT))
    return line(Span("Of other runs no norms are kept as yet.", Style.HINT))


def _overview(series: Sequence[Series]) -> Table:
    """A row a series: its curve, its first and last number, and how the last compares with the first."""

    def row(i: int) -> Row:
        one = series[i]
        link = f"trends {quoted(one.name)} --of {one.quantity}"
        first = i == 0 or series[i - 1].name != one.name
        return (
            Span(one.name if first else "", Style.NAME, link),
            Span(str(one.quantity), Style.LABEL, link),
            number_span(one.values[0]),
            Span("".join(signs(_logarithms(one), _CURVE)), Style.NUMBER),
            number_span(one.values[-1]),
            _change(one),
        )

    columns = (
        Column("Layer", keep_end=True, least=_LEAST), Column("Norm of"), Column("First", right=True, drop=3),
        Column("", width=_CURVE, drop=1), Column("Last", right=True), Column("Last / first", drop=2),
    )  # fmt: skip
    return Table(columns, len(series), row)


def _logarithms(series: Series) -> Any:
    values = np.array(series.values)
    with np.errstate(divide="ignore"):
        logs = np.log10(values)
    finite = logs[np.isfinite(logs)]
    # A zero has no logarithm: it stands a decade below the least of the others, so that it shows as less.
    return np.where(values == 0, finite.min() - 1.0 if finite.size else 0.0, logs)


def _change(series: Series) -> Span:
    first, last = series.values[0], series.values[-1]
    if len(series.values) < 2 or not first or not (math.isfinite(first) and math.isfinite(last)):
        return Span("")
    return Span(f"×{number_text(last / first)}", Style.NUMBER)


def _data(series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "quantity": str(series.quantity),
        "steps": list(series.steps),
        "values": list(series.values),
    }


COMMAND = Command(
    "trends",
    (),
    "Norms of gradients, weights and updates, layer by layer, over the runs that are kept or recorded.",
    _trends,
    (
        Argument(
            ("layer",), "a layer or scope; all without it", ArgumentKind.LAYER, nargs="?", default="", metavar="LAYER"
        ),
        Argument(("--of",), "one norm only", choices=tuple(map(str, Quantity)), default=""),
        Argument(("-a", "--all"), "runs of other functions too", switch=True),
        QUERY_ARGUMENT,
    ),
    moments=WITH_TENSORS,
    values=True,
    details="""\
A norm is the square root of the sum of squares over all variables of a layer. Gradients are those that leave the
backward pass, before clipping by the optimizer; weights are as the run read them; an update is the difference to the
value after the run, where the run shows both. Where mean and std were recorded and no values, norms are made of
those, and updates are not known. Curves are logarithmic. Under `tfdbg run --trends` the norms of one run in a
hundred (--every N) are kept from the first on.

Examples:
  trends                       every layer
  trends dense                 the norms of one, and of what lies in it
  trends -q 'gradient max>100'  gradients whose norm was above 100 in some run
  trends dense --of gradient    one curve over the whole width, and its numbers run by run""",
)
