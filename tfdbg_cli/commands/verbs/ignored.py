"""`ignored`: what counts as fine, by the user's word or since a watch found that it does no harm."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import LIVE, Argument, Command, Moment
from tfdbg_cli.commands.views.ignored_places import place_data
from tfdbg_cli.commands.views.links import node_link, source_link
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.ignored import Ignored, IgnoredBy, IgnoredPlace
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.units import count_text


def _ignored(context: Context, options: argparse.Namespace) -> Document:
    ignored = context.ignored
    told: list[Line] = []
    if options.withdraw is not None and options.query:
        raise TfdbgError("-q narrows the list; a place is withdrawn without it.", hint="Write: ignored -q QUERY")
    if options.withdraw is not None:
        place = ignored.withdraw(options.withdraw)
        if place is None:
            raise TfdbgError(f"There is no place {options.withdraw}.", hint="`ignored` lists them.")
        told = [line(Span(f"Withdrawn: {place.title} counts again.", Style.GOOD))]
    left = _ROWS.left(options.query, ignored.numbered, COMMAND.spell(options, query=""))
    places = left.rows
    data = {"ignored": [place_data(number, place) for number, place in places], **left.data}
    if not len(ignored):
        none = _NONE[:-1] if isinstance(context.stop, Opened) else _NONE  # of a recording nothing is watched
        return Document("ignored", (Text((*told, *none)),), lambda: data, "ignored")
    columns = (
        Column("N", right=True),
        Column("Run", right=True),
        Column("Holds"),
        Column("Nodes", right=True, drop=1),
        Column("Line", drop=2),
        Column("What"),
        Column("Why", drop=3),
        Column(""),
    )
    table = Table(columns, len(places), lambda i: _row(*places[i]))
    head = Text((*told, _head(ignored), *left.head, EMPTY_LINE))
    blocks: tuple[Block, ...] = (head, table) if places else (head,)
    if len(ignored.by_hand) < len(ignored):
        again = line("What a watch left out counts again with ", Span("run -f has_inf_or_nan", Style.KEY), ".")
        blocks = (*blocks, Text((EMPTY_LINE, again)))
    return Document("ignored", blocks, lambda: data, left.title("ignored"))


def _head(ignored: Ignored) -> Line:
    by_hand = len(ignored.by_hand)
    by_watch = len(ignored) - by_hand
    parts: list[Span | str] = []
    if by_hand:
        verb = "counts" if by_hand == 1 else "count"
        parts += [Span(f"{count_text(by_hand, 'place')} that {verb} as fine", Style.TITLE), " by your word"]
    if by_watch:
        parts += ["; "] if by_hand else []
        parts += [Span(f"{count_text(by_watch, 'place')} left out by the watch", Style.TITLE)]
        parts += [", since what is not finite there does no harm"]
    return line(*parts, ":")


def _row(number: int, place: IgnoredPlace) -> Row:
    made = Span("")
    if place.file and place.line is not None:
        made = Span(f"{PurePath(place.file).name}:{place.line}", Style.DIM, source_link(place.file, place.line))
    return (
        Span(str(number), Style.NUMBER),
        Span(f"#{place.run}", Style.NUMBER),
        Span(place.holds, Style.NAN if "NaN" in place.holds else Style.INF),
        Span(f"{len(place.nodes):,}"),
        made,
        Span(_what(place), Style.NAME, node_link(place.tensor.node)),
        Span(_why(place)),
        Span("withdraw", Style.KEY, f"ignored --withdraw {number}"),
    )


def _why(place: IgnoredPlace) -> str:
    """What speaks for it, and which variables it spoiled: those follow from it in later runs."""
    return f"{place.why}; it spoiled {', '.join(place.spoiled)}" if place.spoiled else place.why


def _what(place: IgnoredPlace) -> str:
    if place.by is IgnoredBy.WATCH:
        return str(place.tensor)
    return f"the cause at {place.tensor.node}" if place.by is IgnoredBy.CAUSE else f"{place.by} {place.name}"


_NONE = (
    line("Nothing counts as fine by your word, and no place was left out by a watch."),
    line(Span("ignore NODE", Style.KEY), " lets a node, a layer or a cause count as fine."),
    line(Span("run -f has_inf_or_nan --benign skip", Style.KEY), " leaves out what does no harm."),
)
_ROWS = PlainRows[tuple[int, IgnoredPlace]](
    "a place that is ignored",
    lambda row: f"{_what(row[1])} {row[1].why}",
    {"name": lambda row: _what(row[1]), "op": lambda row: row[1].op_type},
    {"run": lambda row: row[1].run},
)
COMMAND = Command(
    "ignored",
    (),
    "What counts as fine: by your word, or since a watch found that it does no harm.",
    _ignored,
    (
        Argument(("--withdraw",), "let the place with this number count again", metavar="N", type=int),
        QUERY_ARGUMENT,
    ),
    moments=LIVE | {Moment.OPENED},
    section="Look",
    details="""\
`ignore` lets a node, a layer or a cause count as fine. `tfdbg run --until has_inf_or_nan`, and
`run -f has_inf_or_nan --benign skip`, go on at a run in which all that is not finite is made on purpose (as `origin`
tells it) or touches nothing: no result, no gradient that is applied, no variable. The nodes that held it are left out
of the watch from then on; what is not finite elsewhere stops it. Words of a query search in What and Why.

Examples:
  ignored
  ignored -q 'op=Const mask'""",
)
