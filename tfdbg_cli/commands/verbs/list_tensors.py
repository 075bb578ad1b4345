"""`list_tensors`: the tensors of a run, chosen and sorted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.choosing.tensor_query import SortKey
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.watch.answers import Raised
from tfdbg_cli.analysis.watch.filter import Among
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.commands.asked.arguments import excluded_nodes
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT, query_line, unjudged_line
from tfdbg_cli.commands.query.tensor_listing import Listing, find, find_in_steps
from tfdbg_cli.commands.query.unread import unread_among
from tfdbg_cli.commands.registry import LOOKING, Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.lists.health_columns import CountedLater
from tfdbg_cli.commands.views.lists.tensor_columns import Field, TensorCells, tensor_data, tensor_fields
from tfdbg_cli.commands.views.short_names import ShortNames, shared_by_most
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import summary_data
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, SHOW_ALL, Line, Span, Style, line
from tfdbg_cli.model.units import count_text


def _list_tensors(context: Context, options: argparse.Namespace) -> Document:
    listing = find(context, options)
    names = _short_names(context, listing.indices)
    table = _table(context, options, listing.indices, names)
    head = _head(context, options, listing, names)
    title = _title(options, len(listing.indices), len(context.run.tensors))
    if not listing.indices:
        return Document("tensors", (Text(head),), lambda: _data(context, options, listing), title)
    focus = _offending_row(context, listing.indices)
    return Document(
        "tensors",
        (Text(head), table),
        lambda: _data(context, options, listing),
        title,
        None if focus is None else len(head) + 1 + focus,
    )


def _offending_row(context: Context, indices: Sequence[int]) -> int | None:
    """The row of the tensor that `origin` names, where the list is opened from its page."""
    origin = context.memory.origins.get(context.current)
    index = None if origin is None else origin.index
    on_show = "" if context.on_show is None else context.on_show[1].kind
    if not context.later or on_show != "origin" or index is None or index not in indices:
        return None
    return indices.index(index)


def _title(options: argparse.Namespace, shown: int, total: int) -> str:
    if options.query:
        return f"tensors[{options.query}]: {shown:,} of {total:,}"
    return f"tensors[{options.tensor_filter}]" if options.tensor_filter else "tensors"


def _short_names(context: Context, indices: Sequence[int]) -> ShortNames:
    store = context.run.tensors
    return shared_by_most(context.run.graph, len(indices), lambda i: store[indices[i]].node)


def _head(context: Context, options: argparse.Namespace, listing: Listing, names: ShortNames) -> tuple[Line, ...]:
    passing = f' passing filter "{options.tensor_filter}"' if options.tensor_filter else ""
    total = len(context.run.tensors)
    lines = [line(Span(f"{len(listing.indices)} dumped tensor(s){passing} of {total}", Style.TITLE))]
    narrowed = [
        f"{name} {value}"
        for name, value in (
            ("layer", options.layer),
            ("role", options.role),
            ("node", options.node_name_filter),
            ("op type", options.op_type_filter),
            ("dtype", options.dtype),
            ("shape", options.shape),
            ("device", options.device),
            ("without node", options.filter_exclude_node_names),
        )
        if value
    ]
    if narrowed:
        everything = COMMAND.spell(options, **dict.fromkeys(_NARROWING, ""))
        lines.append(line(Span("; ".join(narrowed), Style.DIM), "  ", Span(SHOW_ALL, Style.KEY, everything)))
    if options.query:
        among = None if narrowed or options.tensor_filter else total
        lines.append(query_line(options.query, len(listing.indices), among, COMMAND.spell(options, query="")))
    if listing.unjudged:
        lines.append(unjudged_line(listing.unjudged))
    if listing.raised.count:
        lines.append(_complaint(options.tensor_filter, listing.raised))
    if listing.unread:
        lost = f"{count_text(listing.unread, 'tensor')} could not be read, so the filter did not see what they held."
        lines.append(line(Span(lost, Style.WARNING)))
    if listing.blank:
        first = f" of the first {listing.counted:,}" if listing.counted < len(listing.indices) else ""
        was = "was" if listing.blank == 1 else "were"
        blank = f"{count_text(listing.blank, 'tensor')}{first} could not be read, and so {was} not counted."
        lines.append(line(Span(blank, Style.WARNING)))
    if context.run.shortcomings:
        lines.append(line(Span(context.run.shortcomings, Style.WARNING)))
    if context.run.paused is not None:
        from tfdbg_cli.commands.views.given_instead import pending_instead  # most lists do without

        lines += pending_instead(context.run)
    if _is_half_blind(context, options):
        lines.append(line(Span(_RESULTS_UNKNOWN, Style.WARNING)))
    if not listing.indices:
        from tfdbg_cli.commands.views.lists.empty_list import explain_empty  # most lists hold something

        lines += [EMPTY_LINE, *explain_empty(context, options, unjudged=listing.unjudged)]
    return (*lines, *names.legend(), EMPTY_LINE)


def _is_half_blind(context: Context, options: argparse.Namespace) -> bool:
    """Whether the filter asks for results, and nobody knows which they are."""
    ours = our_filter(context.filter(options.tensor_filter)) if options.tensor_filter else None
    return ours is not None and ours.among is Among.OUTCOME and not context.run.call.results_known


_RESULTS_UNKNOWN = (
    "What the program got from this run is not known, so only gradients and variables were asked for bad_result."
)
_NARROWING = (
    "layer", "role", "node_name_filter", "op_type_filter", "dtype", "shape", "device", "filter_exclude_node_names",
)  # fmt: skip


def _complaint(name: str, raised: Raised) -> Line:
    kind, _, message = raised.error.partition(": ")
    first = f"(first: {raised.first}: {message})" if message else f"(first: {raised.first})"
    return line(Span(f"{name} raised {kind} on {count_text(raised.count, 'tensor')} {first}", Style.WARNING))


def _table(context: Context, options: argparse.Namespace, indices: Sequence[int], names: ShortNames) -> Table:
    store = context.run.tensors
    fields = tensor_fields(context, indices, names, stats=options.stats)
    columns = tuple(_with_sort(field, options) for field in fields)
    later = CountedLater(context, indices) if context.later and not options.stats else None
    return Table(
        columns,
        len(indices),
        lambda i: TensorCells(fields, indices[i], store[indices[i]]),
        later=later,
        text=TensorCells.text,
    )


def _with_sort(field: Field, options: argparse.Namespace) -> Column:
    """The column with its head made a link that sorts, keeping every other flag; a second click reverses."""
    column = field.column
    if field.sort is None:
        return column
    current = options.sort_by == field.sort
    first = field.sort is SortKey.DUMP_SIZE  # whether the largest stand on top at first
    link = COMMAND.spell(options, sort_by=str(field.sort), reverse=not options.reverse if current else first)
    mark = ("▼" if options.reverse else "▲") if current else ""
    if current and field.sort is SortKey.WORST:
        mark = "!" + mark.strip("▲")  # by infinities and magnitude, too: not an order of this column
    # What a user sorted by stays in sight; the order of execution, in which lists begin, may be left out.
    drop = 0 if current and (options.reverse or field.sort is not SortKey.TIMESTAMP) else column.drop
    return replace(column, title=column.title + mark, link=link, drop=drop)


def _data(context: Context, options: argparse.Namespace, listing: Listing) -> dict[str, Any]:
    summaries = bool(options.stats or options.tensor_filter)
    tensors = [tensor_data(context, i) | (_numbers(context, i) if summaries else {}) for i in listing.indices]
    data: dict[str, Any] = {
        "total": len(context.run.tensors),
        "filter": options.tensor_filter or None,
        "tensors": tensors,
    }
    if options.query:
        data["query"] = options.query
    unread = listing.unread + listing.unjudged
    if options.stats and not options.tensor_filter:
        unread += unread_among(context, listing.indices)
    if unread:
        data["unread"] = unread
    if _is_half_blind(context, options):
        data["note"] = _RESULTS_UNKNOWN
    if listing.raised.count:
        raised = listing.raised
        data["raised"] = {"count": raised.count, "first": raised.first, "error": raised.error}
    return data


def _numbers(context: Context, index: int) -> dict[str, Any]:
    """What the tensor holds, and where nobody knows it, why."""
    lack = context.lack(index)
    return {"summary": summary_data(context.summary(index))} | ({} if lack is None else {"lack": str(lack)})


def _role_text(text: str) -> str:
    """The role that begins so: `fwd`, `grad` and `upd` as they stand in the table, or in full."""
    return {"fwd": "forward", "grad": "gradient", "upd": "update"}.get(text, text)


COMMAND = Command(
    "list_tensors",
    ("lt",),
    "List the tensors of a run.",
    _list_tensors,
    (
        Argument(
            ("-f", "--tensor_filter"),
            "only tensors that pass FILTER",
            ArgumentKind.FILTER,
            metavar="FILTER",
            default="",
        ),
        QUERY_ARGUMENT,
        excluded_nodes("nodes that the filter is not asked about"),
        Argument(
            ("-l", "--layer"), "only this Keras layer or name scope", ArgumentKind.LAYER, metavar="NAME", default=""
        ),
        Argument(
            ("--role",),
            "only what computes the result, differentiates it, or updates variables",
            choices=tuple(map(str, Role)),
            default="",
            type=_role_text,
            metavar="ROLE",
        ),
        Argument(("-n", "--node_name_filter"), "only these nodes", ArgumentKind.NODE, metavar="REGEX", default=""),
        Argument(
            ("-t", "--op_type_filter"), "only these op types", ArgumentKind.OP_TYPE, metavar="REGEX", default=""
        ),
        Argument(("--dtype",), "only these element types", ArgumentKind.DTYPE, metavar="REGEX", default=""),
        Argument(("--shape",), "only shapes such as 5,?,3; ? is any length, * any axes", metavar="SHAPE", default=""),
        Argument(("--device",), "only these devices", ArgumentKind.DEVICE, metavar="REGEX", default=""),
        Argument(
            ("-s", "--sort_by"),
            "what to sort by",
            metavar="KEY",
            choices=tuple(str(key) for key in SortKey),
            default="timestamp",
        ),
        Argument(("-r", "--reverse"), "sort downwards", switch=True),
        Argument(("--stats",), "count NaN and infinities, show the range; reads every value shown", switch=True),
    ),
    moments=LOOKING,
    values=True,
    steps=find_in_steps,
    details="""\
Without -s tensors stand in the order of their execution. Regexes search anywhere in the name.
The heads of the columns sort; a second click reverses. A row leads to the tensor's value. `queries` explains what -q
takes; on the screen f types it. There the rows in sight show their health, which is counted as they come into sight,
and w puts the worst on top: the most NaN and infinities (of as many the larger share of a tensor), then the largest
magnitude. `config set columns` chooses other columns, and `config set columns auto` these again.
Gradients are the numbers that a backward pass computed; its shapes, masks and constants have no role.
What a filter said of all tensors of a large recording is kept for the next opening, until the recording changes;
`tfdbg info` says where.

Examples:
  lt -f has_inf_or_nan              what is NaN or infinite, the first to turn so on top
  lt -f has_inf_or_nan -fenn grad   the same without gradients
  lt -l dense_1                     a layer, its gradients and its updates
  lt -l dense_1 --role grad         its gradients alone
  lt -n '^dense' -t MatMul          by node and op type
  lt --shape '*,10' --stats         everything whose last axis is 10, with its range
  lt -s dump_size -r                the largest first
  lt -s worst                       the most NaN and infinities on top, then by magnitude; reads every value
  lt -q 'dense shape=[*,128]'       a query, in quotes: names with dense in them, whose last axis is 128
  lt -q 'size>1MB or max>1e4'       large ones, or with large values; only what a query asks for is counted
  lt -q 'not role=grad (nan>0 or zero>50%)'""",
)
