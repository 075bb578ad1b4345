"""Norms over runs, one of them in full, as `trends` and a preview of its rows show it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.layers.layers import is_called
from tfdbg_cli.analysis.many_runs.trends import Trends, trends
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.plot import Plot
from tfdbg_cli.document.summary import number_span, number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.series import Quantity, Series


def trends_of(context: Context, *, everything: bool) -> Trends:
    """The norms over the runs of this function, or over all with `everything`; found once."""
    same = context.call.same
    key = same, everything
    known = context.memory.trends
    if key not in known:
        found = trends(context.runs, lambda run: not run.what_if_title and (everything or run.call.same == same))
        beside = None if isinstance(context.stop, Opened) else context.stop.beside
        kept = {} if beside is None else beside.trends
        earlier = [one for other, series in kept.items() if everything or other == same for one in series]
        known[key] = replace(found, series=_joined([*earlier, *found.series])) if earlier else found
    return known[key]


def _joined(series: Sequence[Series]) -> tuple[Series, ...]:
    """One series of each layer and quantity, with the number of each run once, in the order of the runs."""
    points: dict[tuple[str, Quantity], dict[int, float]] = {}
    for one in series:
        points.setdefault((one.name, one.quantity), {}).update(zip(one.steps, one.values, strict=True))
    names = dict.fromkeys(name for name, _ in points)
    keys = [(name, quantity) for name in names for quantity in Quantity if (name, quantity) in points]
    return tuple(
        Series(*key, tuple(step for step, _ in at), tuple(value for _, value in at))
        for key in keys
        if (at := sorted(points[key].items()))
    )


def chosen_series(found: Trends, options: argparse.Namespace) -> Sequence[Series]:
    """Those of the layer and the quantity that were asked for.

    Raises:
        TfdbgError: there is no such layer.

    """
    series: Sequence[Series] = found.series
    if options.of:
        series = [one for one in series if one.quantity == options.of]
    if options.layer:
        named = [one for one in series if one.name == options.layer]
        named = named or [one for one in series if is_called(one.name, options.layer)]
        if not named:
            known = dict.fromkeys(one.name for one in series)
            hint = did_you_mean(options.layer, known) or "`trends` lists the layers that have some."
            raise TfdbgError(f"There are no norms of a layer {options.layer!r}.", hint=hint)
        return named
    return series


def series_blocks(context: Context, series: Series) -> list[Block]:
    """The curve of one series, and its numbers run by run."""
    blocks: list[Block] = []
    if len(series.steps) > 1:
        ends = f"#{series.steps[0]}", f"#{series.steps[-1]}"
        blocks.append(Plot(np.array(series.values), ends, _is_positive(series)))
    return [*blocks, Text((EMPTY_LINE,)), _runs(context, series)]


def _is_positive(series: Series) -> bool:
    """Whether it can be shown on a logarithmic scale."""
    return any(value > 0 for value in series.values if math.isfinite(value))


def _runs(context: Context, series: Series) -> Table:
    """A row a run of one series."""
    calls = ((place, context.runs[place].call) for place in range(len(context.runs)))
    places = {call.number: place for place, call in calls if call.worker == context.call.worker}

    def row(i: int) -> Row:
        step = series.steps[i]
        ratio = series.values[i] / series.values[i - 1] if i and series.values[i - 1] else math.nan
        return (
            Span(f"#{step}", Style.NAME, f"runs {places[step] + 1}" if step in places else ""),
            number_span(series.values[i]),
            Span("" if math.isnan(ratio) else f"×{number_text(ratio)}", Style.DIM),
        )

    columns = (Column("Run", right=True), Column("Norm", right=True), Column("From the run before"))
    return Table(columns, len(series.steps), row)
