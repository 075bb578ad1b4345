"""`alerts`: every tensor that is not finite, in all runs, with the line that made it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

from tfdbg_cli.analysis.choosing.known_figures import Known, known_figure
from tfdbg_cli.analysis.graph.flow.last_update import line_of
from tfdbg_cli.analysis.many_runs.alerts import Alert, AlertSearch
from tfdbg_cli.analysis.many_runs.run_health import KnownHealth
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.commands.asked.arguments import excluded_nodes
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command
from tfdbg_cli.commands.views.alerts import alert_data, nonfinite_text
from tfdbg_cli.commands.views.links import source_link, tensor_link
from tfdbg_cli.commands.views.made_at import lines_lost
from tfdbg_cli.commands.views.other_calls import made_left_out
from tfdbg_cli.commands.views.rule_alerts import rule_blocks, rule_data
from tfdbg_cli.commands.views.run_health import run_healths
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import nonfinite_style
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.units import count_text

_MOST = 1_000
_OPS_SHOWN = 5
_FIGURES = ("nan", "inf", "bad", "neg", "zero", "pos", "min", "max", "absmax", "mean", "std")


def _alerts(context: Context, options: argparse.Namespace) -> Document:
    if not 0 <= options.most < sys.maxsize:
        raise TfdbgError(f"-m counts alerts; {options.most} is none.", hint="-m 20 shows 20, -m 0 all.")
    search, found = _found(context, options)
    more = bool(options.most) and len(found) > options.most
    first = found[: options.most] if more else found
    left = _facts(context).left(options.query, first, COMMAND.spell(options, query=""))
    shown = left.rows
    ruled = () if options.query else _of_rules(context)
    blocks: list[Block] = rule_blocks(ruled, context.run if ruled else None)
    blocks.append(Text((*_head(context, options, search, first, more=more), *left.head, EMPTY_LINE)))
    if shown:
        blocks.append(Table(_COLUMNS, len(shown), lambda at: _row(context, shown[at])))
    return Document(
        "alerts",
        tuple(blocks),
        lambda: {**_data(context, search, shown, ruled, more=more), **left.data},
        left.title("alerts"),
    )


def _of_rules(context: Context) -> Sequence[RuleAlert]:
    """What the rules of `tfdbg run --rules` have found."""
    beside = None if isinstance(context.stop, Opened) else context.stop.beside
    return () if beside is None else beside.alerts


def _found(context: Context, options: argparse.Namespace) -> tuple[AlertSearch, Sequence[Alert]]:
    """The alerts, one beyond the most wanted; those shown last where a query is asked of them, as one types."""
    text, known = options.filter_exclude_node_names, context.memory.alerts
    key = len(context.runs), options.nan, text, options.most, options.benign
    if not options.query or key not in known:
        healths = run_healths(context)
        meant = (lambda place: healths.of(place).left_out) if options.benign == OnIntended.SKIP else None
        search = AlertSearch(context.runs_of_program, options.nan, pattern(text) if text else None, meant)
        known[key] = search, list(islice(search.alerts(), options.most + 1 if options.most else None))
    return known[key]


def _facts(context: Context) -> PlainRows[Alert]:
    """What a query can ask of an alert."""

    def tensor(alert: Alert) -> Tensor:
        return context.runs[alert.run].tensors[alert.index]

    def told(name: str) -> Callable[[Alert], Known]:
        return lambda alert: known_figure(alert.summary, name)

    return PlainRows(
        "an alert",
        lambda alert: str(tensor(alert).name),
        {
            "op": lambda alert: tensor(alert).op_type,
            "dtype": lambda alert: tensor(alert).dtype,
            "device": lambda alert: tensor(alert).device,
        },
        {"run": lambda alert: context.runs[alert.run].call.number, **{name: told(name) for name in _FIGURES}},
        elements=told("size"),
    )


_COLUMNS = (
    Column("Run", right=True),
    Column("Holds"),
    Column("Op type", drop=2),
    Column("Made at", drop=1),
    Column("Tensor", subject=True, keep_end=True),
)


def _head(
    context: Context, options: argparse.Namespace, search: AlertSearch, shown: Sequence[Alert], *, more: bool
) -> list[Line]:
    lines = []
    if not shown:
        what = "No tensor is known to hold NaN" + ("" if search.nan_only else " or infinity")
        what += " that is not intended or ignored." if search.meant else "."
        lines.append(line(Span(what, Style.GOOD if search.unknown < search.tensors else Style.WARNING)))
    else:
        first = shown[0]
        many = f"more than {count_text(len(shown), 'alert')}" if more else count_text(len(shown), "alert")
        link = f"runs {first.run + 1}"
        call = context.runs[first.run].call
        what = f": {call.function}" if call.kind is RunKind.FUNCTION and " " in call.function else ""  # no one call
        place = Span(f"#{call.number}", Style.KEY, link)
        lines.append(line(Span(many, Style.TITLE), ", the first in run ", place, what))
        ops = Counter(context.runs[alert.run].tensors[alert.index].op_type for alert in shown)
        common = ", ".join(f"{op or '?'} {count:,}" for op, count in ops.most_common(_OPS_SHOWN))
        lines.append(line(Span("By op: ", Style.LABEL), common))
        there = "" if first.run == context.current else f"`runs {first.run + 1}`, then "
        hint = f"{there}`origin` says where it began."
        lines.append(line(Span(hint, Style.HINT)))
        lines += _harmless(context, dict.fromkeys(alert.run for alert in shown), more=more)
    lines.append(line(f"Looked at {count_text(search.tensors, 'tensor')}."))
    if search.unknown:
        text = f"Of {count_text(search.unknown, 'tensor')} nobody can tell: {_why_unknown(search)}"
        lines.append(line(Span(text, Style.WARNING)))
    if search.meant:
        why = "intended (a mask of -inf, gradients of a skipped step) or ignored"
        left = f"{count_text(search.meant, 'tensor')} left out, {why}: "
        way = COMMAND.spell(options, benign=OnIntended.SHOW)
        lines.append(line(Span(left, Style.HINT), Span(way, Style.KEY, way)))
    if more:
        lines.append(line(Span("Not looked further: `alerts -m 0` lists all.", Style.HINT)))
    lines += made_left_out(context)
    runs = ((context.runs[alert.run], alert) for alert in shown)
    if lost := lines_lost((run.tracebacks, line_of(run, run.tensors[one.index].node)) for run, one in runs):
        lines.append(line(Span(lost, Style.WARNING)))
    if search.unreadable:
        lines.append(line(Span(f"{count_text(search.unreadable, 'run')} cannot be read.", Style.WARNING)))
    return lines


def _harmless(context: Context, places: Collection[int], *, more: bool) -> list[Line]:
    """In which of the runs at `places`, all that hold what is shown, nothing bad comes out."""
    healths = run_healths(context)
    known = [healths.known(place) for place in places]
    harmless = sum(one is not None and one.health is KnownHealth.HARMLESS for one in known)
    if not harmless:
        return []
    why = "what comes out of a run is finite, or was there before, or the program wrote it down."
    if harmless == len(places) and not more:
        return [line(Span("All of it is harmless: ", Style.GOOD), why)]
    where = f"{harmless:,} of these {len(places):,} runs" + (", as far as they are shown" if more else "")
    return [line(Span(f"Harmless in {where}: ", Style.GOOD), why, " ", Span("runs", Style.KEY, "runs"))]


def _why_unknown(search: AlertSearch) -> str:
    """Why nobody can tell of some tensors whether they are finite."""
    if not search.damaged:
        return "neither counts nor values are there."
    others = search.unknown - search.damaged
    rest = f", and of {others:,} neither counts nor values are there" if others else ""
    return f"what is kept of {search.damaged:,} is damaged{rest}. `tfdbg doctor` says what is wrong with a file."


def _row(context: Context, alert: Alert) -> Row:
    run = context.runs[alert.run]
    tensor = run.tensors[alert.index]
    frame = line_of(run, tensor.node)
    go = f"runs {alert.run + 1}"
    link = tensor_link(run.tensors, alert.index) if alert.run == context.current else go
    place = Span("")
    if frame is not None:
        place = Span(_place(frame), Style.LABEL, source_link(frame.file, frame.line))
    return (
        Span(f"#{run.call.number}", Style.NUMBER, go),
        Span(nonfinite_text(alert.summary), nonfinite_style(alert.summary)),
        Span(tensor.op_type, Style.OP),
        place,
        Span(str(tensor.name), Style.NAME, link),
    )


def _place(frame: Frame) -> str:
    return f"{frame.file.rpartition('/')[2]}:{frame.line}"


def _data(
    context: Context, search: AlertSearch, shown: Sequence[Alert], ruled: Sequence[RuleAlert], *, more: bool
) -> dict[str, Any]:
    found = [alert_data(context.runs[alert.run], alert) for alert in shown]
    listed = {(one["rule"], one["run"], one["tensor"]) for one in found}
    rows = [*(rule_data(one) for one in ruled if (one.rule, one.run, one.tensor) not in listed), *found]
    told = {"tensors": search.tensors, "unknown": search.unknown, "unreadable": search.unreadable}
    told["damaged"] = search.damaged
    told["left_out"] = search.meant
    return {"alerts": rows, "more": more, **told}


COMMAND = Command(
    "alerts",
    (),
    "Every tensor that is not finite, in all runs, with the line that made it.",
    _alerts,
    (
        Argument(("--nan",), "NaN only; tensors with infinities alone pass", switch=True),
        excluded_nodes("nodes whose values count as fine"),
        Argument(
            ("--benign",),
            "what looks intended (a mask of -inf), or is ignored: skip it, or show it like others",
            metavar=f"{OnIntended.SKIP}|{OnIntended.SHOW}",
            choices=(OnIntended.SKIP.value, OnIntended.SHOW.value),
            default=OnIntended.SKIP,
        ),
        Argument(("-m", "--most"), "stop after so many alerts; 0 for all", metavar="N", type=int, default=_MOST),
        QUERY_ARGUMENT,
    ),
    moments=WITH_TENSORS,
    values=True,
    details="""\
Looks through the runs of a recording, or those kept before this stop, the oldest first: at the counts where counts
were recorded, else at the values. What looks intended, and what is ignored, is left out where values tell it.
`runs N` and `origin` then tell where it began. Under `tfdbg run --rules FILE` what the rules have found in all runs
that they judged stands above.

Examples:
  alerts
  alerts --nan -m 20
  alerts -q 'op=Log or nan>10'    those of the alerts found that the query admits""",
    section="Look",
)
