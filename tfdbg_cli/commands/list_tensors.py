"""`list_tensors`: the tensors of a run, chosen and sorted."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, overload

from tfdbg_cli.analysis.tensor_query import Raised, SortKey, TensorQuery, ask, select
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.empty_list import explain_empty
from tfdbg_cli.commands.patterns import pattern
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Kind
from tfdbg_cli.commands.tensor_choice import executions_of, short_device, tensor_link
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.summary import number_text, summary_data
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, printable
from tfdbg_cli.document.units import bytes_text, count_text, ms_text, shape_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Tensor

_ROWS_SAMPLED = 200
_NODES_SAMPLED = 10_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What `lt` found: indices in the order shown, and how the filter fared."""

    indices: Sequence[int]
    raised: Raised = field(default_factory=Raised)


def find(context: Context, options: argparse.Namespace) -> Listing:
    """The tensors that the flags of `lt` admit.

    Raises:
        TfdbgError: a bad regex, shape or filter name, or flags that contradict each other.

    """
    if options.filter_exclude_node_names and not options.tensor_filter:
        raise TfdbgError("-fenn narrows a filter, and none is given.", hint="Write: lt -f FILTER -fenn REGEX")
    tensor_filter = context.filter(options.tensor_filter) if options.tensor_filter else None
    query = TensorQuery(
        node=pattern(options.node_name_filter) if options.node_name_filter else None,
        op_type=pattern(options.op_type_filter) if options.op_type_filter else None,
        dtype=pattern(options.dtype) if options.dtype else None,
        device=pattern(options.device) if options.device else None,
        shape=options.shape,
        exclude=pattern(options.filter_exclude_node_names) if options.filter_exclude_node_names else None,
        sort_by=SortKey(options.sort_by),
        reverse=options.reverse,
    )
    store = context.run.tensors
    indices = select(store, context.run.graph, query)
    if tensor_filter is None:
        return Listing(indices)
    verdicts = ask(store, indices, tensor_filter, context.answers(tensor_filter))
    return Listing(verdicts.passed, verdicts.raised)


def _list_tensors(context: Context, options: argparse.Namespace) -> Document:
    listing = find(context, options)
    table = _table(context, options, listing.indices)
    head = _head(context, options, listing)
    if not listing.indices:
        return Document("tensors", (Text(head),), lambda: _data(context, options, listing), _title(options))
    return Document("tensors", (Text(head), table), lambda: _data(context, options, listing), _title(options))


def _title(options: argparse.Namespace) -> str:
    return f"tensors[{options.tensor_filter}]" if options.tensor_filter else "tensors"


def _head(context: Context, options: argparse.Namespace, listing: Listing) -> tuple[Line, ...]:
    passing = f' passing filter "{printable(options.tensor_filter)}"' if options.tensor_filter else ""
    total = len(context.run.tensors)
    lines = [line(Span(f"{len(listing.indices)} dumped tensor(s){passing} of {total}", Style.TITLE))]
    narrowed = [
        f"{name} {printable(value)}"
        for name, value in (
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
        lines.append(line(Span("; ".join(narrowed), Style.DIM), "  ", Span("show all", Style.KEY, everything)))
    if listing.raised.count:
        lines.append(_complaint(options.tensor_filter, listing.raised))
    if not listing.indices:
        lines += [EMPTY_LINE, *explain_empty(context, options)]
    return (*lines, EMPTY_LINE)


_NARROWING = ("node_name_filter", "op_type_filter", "dtype", "shape", "device", "filter_exclude_node_names")


def _complaint(name: str, raised: Raised) -> Line:
    kind, _, message = raised.error.partition(": ")
    first = f"(first: {printable(raised.first)}: {printable(message)})" if message else f"(first: {raised.first})"
    return line(
        Span(f"{printable(name)} raised {kind} on {count_text(raised.count, 'tensor')} {first}", Style.WARNING)
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """A column of the table: its head, its cell, and the sort that its head offers."""

    column: Column
    cell: Callable[[int, Tensor], Span]
    sort: SortKey | None = None


class _Row(Sequence[Span]):
    """The cells of one tensor, each made when it is looked at: a summary reads the whole value."""

    def __init__(self, fields: Sequence[_Field], index: int, tensor: Tensor) -> None:
        self._fields, self._index, self._tensor = fields, index, tensor

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | Sequence[Span]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._fields[index].cell(self._index, self._tensor)


def _table(context: Context, options: argparse.Namespace, indices: Sequence[int]) -> Table:
    store = context.run.tensors
    fields = _fields(context, options, indices)
    columns = tuple(_with_sort(field, options) for field in fields)
    return Table(columns, len(indices), lambda i: _Row(fields, indices[i], store[indices[i]]))


def _with_sort(field: _Field, options: argparse.Namespace) -> Column:
    """The column with its head made a link that sorts, keeping every other flag; a second click reverses."""
    column = field.column
    if field.sort is None:
        return column
    current = options.sort_by == field.sort
    link = COMMAND.spell(options, sort_by=str(field.sort), reverse=current and not options.reverse)
    mark = ("▼" if options.reverse else "▲") if current else ""
    return Column(column.title + mark, column.right, column.drop, link, column.width, column.keep_end)


def _fields(context: Context, options: argparse.Namespace, indices: Sequence[int]) -> list[_Field]:
    fields = [
        _time_field(context),
        _Field(Column("Size", right=True, drop=3), lambda i, t: _number(bytes_text(t.nbytes)), SortKey.DUMP_SIZE),
        _Field(Column("Op type", drop=1), lambda i, t: Span(printable(t.op_type), Style.OP), SortKey.OP_TYPE),
        _Field(Column("dtype", drop=2), lambda i, t: Span(printable(t.dtype)), SortKey.DTYPE),
        _Field(Column("Shape"), lambda i, t: _number(shape_text(t.shape)), SortKey.SHAPE),
    ]
    if options.stats:
        fields += _summary_fields(context)
    if _several_devices(context):
        device = Column("Device", drop=5)
        fields.append(_Field(device, lambda i, t: Span(short_device(t.device), Style.DEVICE), SortKey.DEVICE))
    if _has_loops(context, indices):
        fields.append(_Field(Column("Exec", right=True, width=4), lambda i, t: _execution(context, i, t)))
    name = Column("Tensor name", keep_end=True)
    link = tensor_link
    shown = _Field(name, lambda i, t: Span(printable(str(t.name)), Style.NAME, link(context, i)), SortKey.TENSOR_NAME)
    return [*fields, shown]


def _time_field(context: Context) -> _Field:
    """When a tensor was produced; its place in the order of execution where the capture keeps no times."""
    start = _start_us(context)
    if start is None:
        return _Field(Column("#", right=True, drop=4), lambda i, t: _number(str(i + 1)), SortKey.TIMESTAMP)

    def cell(index: int, tensor: Tensor) -> Span:
        return _number(ms_text(None if tensor.time_us is None else tensor.time_us - start))

    return _Field(Column("t (ms)", right=True, drop=4), cell, SortKey.TIMESTAMP)


def _number(text: str) -> Span:
    return Span(text, Style.NUMBER)


def _has_loops(context: Context, indices: Sequence[int]) -> bool:
    """Whether a listed tensor was produced several times, as far as a bounded look tells."""
    store = context.run.tensors
    if len(indices) <= _ROWS_SAMPLED:
        return any(store[i].execution > 0 or len(executions_of(context, i)) > 1 for i in indices)
    nodes = store.nodes()
    if len(nodes) == len(store):
        return False
    several = (store.named(name) for name in islice(nodes, _NODES_SAMPLED))
    return any(store[found[-1]].execution > 0 for found in several if len(found) > 1)


def _execution(context: Context, index: int, tensor: Tensor) -> Span:
    several = tensor.execution > 0 or len(executions_of(context, index)) > 1
    return Span(str(tensor.execution) if several else "", Style.NUMBER)


def _summary_fields(context: Context) -> list[_Field]:
    def column(title: str, width: int, show: Callable[[Summary], Span], drop: int = 0) -> _Field:
        def cell(index: int, tensor: Tensor) -> Span:
            summary = context.summary(index)
            return Span("") if summary is None else show(summary)

        return _Field(Column(title, right=True, width=width, drop=drop), cell)

    def count(number: int, style: Style) -> Span:
        return Span(f"{number:,}" if number else "", style)

    def number(value: float | None) -> Span:
        return Span("" if value is None else number_text(value), Style.NUMBER)

    return [
        column("NaN", 5, lambda s: count(s.nan, Style.NAN)),
        column("±inf", 5, lambda s: count(s.neg_inf + s.pos_inf, Style.INF)),
        column("min", 9, lambda s: number(s.min)),
        column("max", 9, lambda s: number(s.max)),
        column("mean", 9, lambda s: number(s.mean), 6),
        column("std", 9, lambda s: number(s.std), 7),
    ]


def _start_us(context: Context) -> int | None:
    store = context.run.tensors
    return store[0].time_us if len(store) else None


def _several_devices(context: Context) -> bool:
    run = context.run
    devices = set(run.graph.devices())
    if len(devices) < 2:
        devices |= {run.tensors[i].device for i in range(min(len(run.tensors), _ROWS_SAMPLED))}
    return len(devices) > 1


def tensor_data(context: Context, index: int) -> dict[str, Any]:
    """The JSON form of a tensor's description, as docs/commands.md fixes it."""
    tensor = context.run.tensors[index]
    start = _start_us(context)
    elapsed = None if tensor.time_us is None or start is None else (tensor.time_us - start) / 1000
    return {
        "name": str(tensor.name),
        "node": tensor.node,
        "slot": tensor.slot,
        "device": tensor.device,
        "op_type": tensor.op_type,
        "dtype": tensor.dtype,
        "shape": None if tensor.shape is None else list(tensor.shape),
        "nbytes": tensor.nbytes,
        "execution": tensor.execution,
        "t_ms": elapsed,
    }


def _data(context: Context, options: argparse.Namespace, listing: Listing) -> dict[str, Any]:
    summaries = bool(options.stats or options.tensor_filter)
    tensors = [
        tensor_data(context, i) | ({"summary": summary_data(context.summary(i))} if summaries else {})
        for i in listing.indices
    ]
    data: dict[str, Any] = {
        "total": len(context.run.tensors),
        "filter": options.tensor_filter or None,
        "tensors": tensors,
    }
    if listing.raised.count:
        raised = listing.raised
        data["raised"] = {"count": raised.count, "first": raised.first, "error": raised.error}
    return data


COMMAND = Command(
    "list_tensors",
    ("lt",),
    "List the tensors of a run.",
    _list_tensors,
    (
        Argument(
            ("-f", "--tensor_filter"), "only tensors that pass FILTER", Kind.FILTER, metavar="FILTER", default=""
        ),
        Argument(
            ("-fenn", "--filter_exclude_node_names"),
            "nodes that the filter is not asked about",
            Kind.NODE,
            metavar="REGEX",
            default="",
        ),
        Argument(("-n", "--node_name_filter"), "only these nodes", Kind.NODE, metavar="REGEX", default=""),
        Argument(("-t", "--op_type_filter"), "only these op types", Kind.OP_TYPE, metavar="REGEX", default=""),
        Argument(("--dtype",), "only these element types", Kind.DTYPE, metavar="REGEX", default=""),
        Argument(("--shape",), "only shapes such as 5,?,3; ? is any length, * any axes", metavar="SHAPE", default=""),
        Argument(("--device",), "only these devices", Kind.DEVICE, metavar="REGEX", default=""),
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
    moments=WITH_TENSORS,
    details="""\
Without -s tensors stand in the order of their execution. Regexes search anywhere in the name.
The heads of the columns sort; a second click reverses. A row leads to the tensor's value.

Examples:
  lt -f has_inf_or_nan              what is NaN or infinite, the first to turn so on top
  lt -f has_inf_or_nan -fenn grad   the same without gradients
  lt -n '^dense' -t MatMul          by node and op type
  lt --shape '*,10' --stats         everything whose last axis is 10, with its range
  lt -s dump_size -r                the largest first""",
)
