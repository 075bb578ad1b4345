"""`list_variables`: the variables that a run reads or writes, that a checkpoint holds, or that a graph has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.choosing.known_figures import Known, known_figure
from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.analysis.watch.answers import Answered, ask, ask_in_steps
from tfdbg_cli.commands.asked.patterns import pattern, search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import EVERYWHERE, Argument, ArgumentKind, Command, Moment
from tfdbg_cli.commands.views.variables.here import variables_here
from tfdbg_cli.commands.views.variables.table import totals_data, variable_data, variable_head, variable_table
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import LOST

_FIGURES = ("nan", "inf", "bad", "neg", "zero", "pos", "min", "max", "absmax", "mean", "std")
_NAN = float("nan")
_ORDER = {
    "graph": None,
    "name": lambda known, at: known.rows[at].name,
    "size": lambda known, at: known.rows[at].nbytes or 0,
    "dtype": lambda known, at: known.rows[at].dtype,
    "layer": lambda known, at: known.layer(at),
}  # fmt: skip


def _list_variables(context: Context, options: argparse.Namespace) -> Document:
    known = variables_here(context)
    named = _named(known, options)
    answered = _passing(context, known, named, options) if options.tensor_filter else None
    passed = named if answered is None else list(answered.passed)
    left = _facts(known).left(options.query, passed, COMMAND.spell(options, query=""))
    shown = _ordered(known, left.rows, options)
    head = [*variable_head(known), *_narrowed(known, options, passed, answered), *left.head]
    blocks: list[Block] = []
    if shown:
        blocks.append(variable_table(known, shown, _sort_link(options), stats=options.stats, later=context.later))
    counted = options.stats or answered is not None

    def data() -> dict[str, Any]:
        rows = [variable_data(known, at, counted=counted) for at in shown]
        return {
            "variables": rows,
            **totals_data(known),
            **left.data,
            **_filter_data(options, answered, left.unjudged),
        }

    return Document("variables", (Text((*head, EMPTY_LINE)), *blocks), data, left.title("variables"))


def _named(known: KnownVariables, options: argparse.Namespace) -> list[int]:
    """The variables whose names the regular expression is found in."""
    search: Callable[[str], re.Match[str] | None] = pattern(options.name).search
    return [at for at, one in enumerate(known.rows) if search(one.name) or (one.full_name and search(one.full_name))]


def _passing(context: Context, known: KnownVariables, rows: Sequence[int], options: argparse.Namespace) -> Answered:
    """Those of `rows` whose values pass the filter."""
    tensor_filter = context.filter(options.tensor_filter)
    return ask(known.as_run, rows, tensor_filter, known.answers(tensor_filter))


def _ordered(known: KnownVariables, rows: Sequence[int], options: argparse.Namespace) -> Sequence[int]:
    key = _ORDER[options.sort_by]
    if key is None:
        return rows[::-1] if options.reverse else rows
    return sorted(rows, key=lambda at: key(known, at), reverse=options.reverse)


def _sort_link(options: argparse.Namespace) -> Callable[[str], str]:
    """By what the list is sorted next: the command behind the head of a column; a second click reverses."""

    def link(key: str) -> str:
        again = options.sort_by == key
        return COMMAND.spell(options, sort_by=key, reverse=not options.reverse if again else key == "size")

    return link


def _narrowed(
    known: KnownVariables, options: argparse.Namespace, passed: Sequence[int], answered: Answered | None
) -> Iterable[Line]:
    """What the name and the filter left."""
    if options.name or options.tensor_filter:
        everything = COMMAND.spell(options, name="", tensor_filter="")
        what = [f"name {options.name}"] * bool(options.name)
        what += [f"passing {options.tensor_filter}"] * bool(options.tensor_filter)
        text = f"{'; '.join(what)}: {len(passed):,} of {len(known.rows):,}"
        yield line(Span(text, Style.DIM), "  ", Span("show all", Style.KEY, everything))
    if answered is None:
        return
    if answered.raised.count:
        raised = answered.raised
        text = f"{options.tensor_filter} raised on {count_text(raised.count, 'variable')} (first: {raised.first}:"
        yield line(Span(f"{text} {raised.error})", Style.WARNING))
    if answered.unread:
        lost = count_text(answered.unread, "variable")
        yield line(Span(f"The filter did not see {lost}, of which no value is held.", Style.WARNING))


def _filter_data(options: argparse.Namespace, answered: Answered | None, unjudged: int) -> dict[str, Any]:
    """What the filter said; the query could not judge `unjudged` of the variables that passed it."""
    if answered is None:
        return {}
    raised = answered.raised
    told: dict[str, Any] = {"filter": options.tensor_filter}
    if raised.count:
        told["raised"] = {"count": raised.count, "first": raised.first, "error": raised.error}
    unread = answered.unread + unjudged
    return told | ({"unread": unread} if unread else {})


def _facts(known: KnownVariables) -> PlainRows[int]:
    """What a query can ask of a variable, by its place."""

    def told(name: str) -> Callable[[int], Known]:
        def tell(at: int) -> Known:
            summary = known.summary(at)
            if summary is None:
                return None if known.lack(at) in LOST else _NAN
            return known_figure(summary, name)

        return tell

    def row(tell: Callable[[Variable], str]) -> Callable[[int], str]:
        return lambda at: tell(known.rows[at])

    def shape(at: int) -> tuple[int, ...] | None:
        return known.values[at].shape

    return PlainRows(
        "a variable",
        row(lambda one: one.name),
        {
            "dtype": row(lambda one: one.dtype),
            "op": row(lambda one: one.op_type),
            "device": row(lambda one: one.device),
            "layer": known.layer,
            "trainable": row(lambda one: _word(one.trainable)),
            "written": row(lambda one: _word(one.written)),
            "initialized": lambda at: _word(known.initialized(at)),
        },
        {
            "rank": lambda at: None if (told := known.rows[at].shape) is None else len(told),
            "size": lambda at: known.rows[at].nbytes,
        },
        {name: told(name) for name in _FIGURES},
        elements=lambda at: known.rows[at].elements,
        shape=shape,
    )


def _word(known: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[known]


def _in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    """Count what the list shows or is asked for."""
    known = variables_here(context)
    yield None
    rows: Sequence[int] = _named(known, options)
    if options.tensor_filter:
        tensor_filter = context.filter(options.tensor_filter)
        yield from ask_in_steps(known.as_run, rows, tensor_filter, known.answers(tensor_filter))
    counted = rows if options.stats else []
    if options.query and not options.stats:
        counted = _facts(known).undecided(asked_query(options.query), rows)
    for number, at in enumerate(counted):
        for _ in known.summary_in_steps(at):
            yield number / len(counted)


COMMAND = Command(
    "list_variables",
    ("lv",),
    "The variables: shapes, sizes, what is trained, what the run wrote.",
    _list_variables,
    (
        Argument(
            ("name",), "only variables with REGEX in their names", metavar="REGEX", nargs="?", default="",
            type=search_text,
        ),
        QUERY_ARGUMENT,
        Argument(
            ("-f", "--tensor_filter"), "only variables whose values pass FILTER", ArgumentKind.FILTER,
            metavar="FILTER", default="",
        ),
        Argument(("-s", "--sort_by"), "what to sort by", metavar="KEY", choices=tuple(_ORDER), default="graph"),
        Argument(("-r", "--reverse"), "sort downwards", switch=True),
        Argument(("--stats",), "count NaN and infinities, show the range; reads every value shown", switch=True),
    ),
    moments=EVERYWHERE - {Moment.STEPPING},
    graph=True,
    steps=_in_steps,
    details="""\
Every variable of the graph, of a checkpoint, or that the eager code used. `Run` says what the run does with it: r it
reads it, w it writes it. Trainable is what the variable was made as, and at a stop of a function whether Keras 3 has
frozen the layer since; where nobody knows that, the place is empty. A frozen layer of tf_keras is told by the run,
which does not write it. Called is what the program calls a variable that a checkpoint names by the way to it.
Values are those that the run left, else those that it read or was given, of a SavedModel those that lie beside it;
--stats, -f and a query count them. A row leads to the value, or where none is held to the node. Whether a variable of
a session is initialized is asked of TensorFlow where the run does not tell. What an optimizer keeps of a variable (a
slot) is told by its name.
A hint names variables that look as if they had been made twice: a layer that was built again, or a scope without
reuse, after which TensorFlow puts a number behind the name.

Examples:
  lv
  lv kernel --stats                 with their ranges
  lv -f has_inf_or_nan              those that hold NaN or infinities
  lv -s size -r                     the largest first
  lv -q 'trainable=yes size>1MB'    large ones that are trained
  lv -q 'initialized=no'            what the program forgot to initialize""",
)  # fmt: skip
