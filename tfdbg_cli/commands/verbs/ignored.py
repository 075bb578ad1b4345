"""`ignored`: the places that a watch left out, since what is not finite there does no harm."""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import Any

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Command
from tfdbg_cli.commands.views.links import node_link, source_link
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line, printable
from tfdbg_cli.document.units import count_text
from tfdbg_cli.model.ignored import IgnoredPlace
from tfdbg_cli.model.runs import Opened


def _ignored(context: Context, options: argparse.Namespace) -> Document:
    stop = context.stop
    places = () if isinstance(stop, Opened) else stop.ignored
    data = {"ignored": [_data(place) for place in places]}
    if not places:
        text = line("No place was left out by a watch. ", Span("run -f has_inf_or_nan --benign skip", Style.KEY))
        return Document("ignored", (Text((text,)),), lambda: data, "ignored")
    head = line(
        Span(f"{count_text(len(places), 'place')} left out by the watch", Style.TITLE),
        ", since what is not finite there does no harm:",
    )
    columns = (
        Column("Run", right=True),
        Column("Holds"),
        Column("Nodes", right=True, drop=1),
        Column("Line", drop=2),
        Column("Tensor"),
        Column("Why", drop=3),
    )
    table = Table(columns, len(places), lambda i: _row(places[i]))
    again = line("They count again with ", Span("run -f has_inf_or_nan", Style.KEY), ".")
    blocks: tuple[Block, ...] = (Text((head, EMPTY_LINE)), table, Text((EMPTY_LINE, again)))
    return Document("ignored", blocks, lambda: data, "ignored")


def _row(place: IgnoredPlace) -> Row:
    made = Span("")
    if place.file and place.line is not None:
        made = Span(
            printable(f"{PurePath(place.file).name}:{place.line}"), Style.DIM, source_link(place.file, place.line)
        )
    return (
        Span(f"#{place.run}", Style.NUMBER),
        Span(place.holds, Style.NAN if "NaN" in place.holds else Style.INF),
        Span(f"{len(place.nodes):,}"),
        made,
        Span(printable(str(place.tensor)), Style.NAME, node_link(place.tensor.node)),
        Span(printable(place.why)),
    )


def _data(place: IgnoredPlace) -> dict[str, Any]:
    return {
        "run": place.run,
        "function": place.function or None,
        "tensor": str(place.tensor),
        "op_type": place.op_type,
        "holds": place.holds,
        "intended": place.intended,
        "why": place.why,
        "nodes": list(place.nodes),
        "file": place.file or None,
        "line": place.line,
    }


COMMAND = Command(
    "ignored",
    (),
    "The places that a watch left out, since what is not finite there does no harm.",
    _ignored,
    moments=LIVE,
    section="Look",
    details="""\
`tfdbg run --until has_inf_or_nan`, and `run -f has_inf_or_nan --benign skip`, go on at a run in which all that is not
finite is made on purpose (as `origin` tells it) or touches nothing: no result, no gradient that is applied, no
variable. The nodes that held it are left out of the watch from then on; what is not finite elsewhere stops it.""",
)
