"""The columns of a list of tensors, each cell made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, overload

from tfdbg_cli.analysis.choosing.tensor_query import SortKey
from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.links import execution_count, tensor_link
from tfdbg_cli.commands.views.lists.health_columns import health_cells, instead_of
from tfdbg_cli.commands.views.short_names import ShortNames
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.graph import Graph, once_per_graph
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Tensor, TensorStore, devices_of, repeats
from tfdbg_cli.model.units import bytes_text, ms_text, shape_text

_ROWS_SAMPLED = 200
_NODES_SAMPLED = 10_000
_ROLE_TEXTS = {Role.FORWARD: "fwd", Role.GRADIENT: "grad", Role.UPDATE: "upd"}


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the table: its name in settings, its head, its cell, and the sort that its head offers.

    `text` tells the text of the cell where that takes less than the cell.
    """

    name: str
    column: Column
    cell: Callable[[int, Tensor], Span]
    sort: SortKey | None = None
    text: Callable[[int, Tensor], str] | None = None


class TensorCells(Sequence[Span]):
    """The cells of one tensor, each made when it is looked at: a summary reads the whole value."""

    def __init__(self, fields: Sequence[Field], index: int, tensor: Tensor) -> None:
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

    def text(self, column: int) -> str:
        """The text of the cell in `column`."""
        text = self._fields[column].text
        return self[column].text if text is None else text(self._index, self._tensor)


def tensor_fields(context: Context, indices: Sequence[int], names: ShortNames, *, stats: bool) -> list[Field]:
    """The columns for the tensors at `indices`, the name last; those that would say nothing are left out."""
    fields = [
        _time_field(context),
        _field(
            "size",
            Column("Size", right=True, drop=3),
            lambda i, t: bytes_text(t.nbytes),
            Style.NUMBER,
            SortKey.DUMP_SIZE,
        ),
        _field("op", Column("Op type", drop=1, least=14), lambda i, t: t.op_type, Style.OP, SortKey.OP_TYPE),
        _field("dtype", Column("dtype", drop=2), lambda i, t: t.dtype, Style.PLAIN, SortKey.DTYPE),
        _field("shape", Column("Shape"), lambda i, t: shape_text(t.shape), Style.NUMBER, SortKey.SHAPE),
    ]
    counted_later = context.later and not stats  # the health of the rows in sight
    if stats:
        fields += _summary_fields(context)
    elif counted_later:
        # Where there is not room for both, NaN and infinities say more than shape and types of op and elements;
        # histogram and the line of source more than when and where a tensor was made, and how large it is.
        for at, drop in ((0, 21), (1, 20), (2, 4), (3, 5), (4, 3)):
            fields[at] = replace(fields[at], column=replace(fields[at].column, drop=drop))
        fields += [
            Field(name, column, _by_index(cell), SortKey.WORST if name == "nan" else None)
            for name, column, cell in health_cells(context)
        ]
    if roles_of(context.run.graph):
        role = Column("Role", drop=6 if counted_later else 4)
        fields.append(
            Field("role", role, lambda i, t: _role(context, t), text=lambda i, t: _role_text(_role_of(context, t)))
        )
    if _several_devices(context):
        device = Column("Device", drop=19 if counted_later else 5)
        fields.append(_field("device", device, lambda i, t: short_device(t.device), Style.DEVICE, SortKey.DEVICE))
    store = context.run.tensors
    if _has_loops(store, indices):
        fields.append(Field("execution", Column("Exec", right=True, width=4), partial(_execution, store)))
    if counted_later and context.settings.columns != "auto":
        fields = _chosen(fields, context.settings.columns.split(","))
    if context.call.worker:
        worker = Span(context.call.worker, Style.LABEL)
        fields.append(Field("worker", Column("Worker", drop=8), lambda i, t: worker))
    name = Column("Tensor name", keep_end=True)

    def text(index: int, tensor: Tensor) -> str:
        return names.short(str(tensor.name))

    def shown(index: int, tensor: Tensor) -> Span:
        return Span(text(index, tensor), Style.NAME, tensor_link(context.run.tensors, index))

    return [*fields, Field("name", name, shown, SortKey.TENSOR_NAME, text)]


def _field(
    name: str, column: Column, text: Callable[[int, Tensor], str], style: Style, sort: SortKey | None = None
) -> Field:
    """A column whose cells are texts in one style."""
    return Field(name, column, lambda index, tensor: Span(text(index, tensor), style), sort, text)


def _chosen(fields: Sequence[Field], names: Sequence[str]) -> list[Field]:
    """Those of `fields` that are named, in that order; where there is no room the last one goes first."""
    known = {field.name: field for field in fields}
    wanted = [known[name] for name in names if name in known]
    return [replace(field, column=replace(field.column, drop=at)) for at, field in enumerate(wanted, 1)]


def _by_index(cell: Callable[[int], Span]) -> Callable[[int, Tensor], Span]:
    return lambda index, tensor: cell(index)


def _time_field(context: Context) -> Field:
    """When a tensor was produced; its place in the order of execution where the capture keeps no times."""
    start = start_us(context)
    if start is None:
        number = Column("#", right=True, drop=4)
        return _field("time", number, lambda i, t: str(i + 1), Style.NUMBER, SortKey.TIMESTAMP)

    def text(index: int, tensor: Tensor) -> str:
        return ms_text(None if tensor.time_us is None else tensor.time_us - start)

    return _field("time", Column("t (ms)", right=True, drop=4), text, Style.NUMBER, SortKey.TIMESTAMP)


def _role(context: Context, tensor: Tensor) -> Span:
    role = _role_of(context, tensor)
    return Span(_role_text(role), Style.DIM if role is Role.FORWARD else Style.LABEL)


def _role_of(context: Context, tensor: Tensor) -> Role | None:
    return tensor_role(context.run.graph, tensor)


def _role_text(role: Role | None) -> str:
    return _ROLE_TEXTS[role] if role else ""


def _has_loops(store: TensorStore, indices: Sequence[int]) -> bool:
    """Whether a listed tensor was produced several times; of a long list whether one of the run was."""
    if len(indices) <= _ROWS_SAMPLED:
        return any(_of_several(store, i, store[i]) for i in indices)
    if (told := repeats(store)) is not None:
        return told
    made = map(store.named, islice(store.nodes(), _NODES_SAMPLED))
    return any(store[rows[-1]].execution > 0 for rows in made if len(rows) > 1)


def _of_several(store: TensorStore, index: int, tensor: Tensor) -> bool:
    """Whether `tensor`, which is at `index`, was produced several times, be it that the others are not kept."""
    return tensor.execution > 0 or execution_count(store, index) > 1


def _execution(store: TensorStore, index: int, tensor: Tensor) -> Span:
    return Span(str(tensor.execution) if _of_several(store, index, tensor) else "", Style.NUMBER)


def execution_columns(store: TensorStore, indices: Iterable[int]) -> tuple[Column, ...]:
    """The column of `execution_cell`, where a tensor at `indices` is not told by its name alone; else none."""
    several = any(_of_several(store, index, store[index]) for index in indices)
    return (Column("Exec", right=True, width=4),) if several else ()


def execution_cell(store: TensorStore, index: int) -> Span:
    """The how-manieth of its name the tensor at `index` is, from 0; empty where it is the only one."""
    return _execution(store, index, store[index])


def _summary_fields(context: Context) -> list[Field]:
    def column(title: str, width: int, show: Callable[[Summary], Span], drop: int = 0) -> Field:
        def cell(index: int, tensor: Tensor) -> Span:
            summary = context.summary(index)
            return instead_of(title, context.lack(index)) if summary is None else show(summary)

        return Field(title, Column(title, right=True, width=width, drop=drop), cell)

    def count(summary: Summary, style: Style, *names: str) -> Span:
        if summary.unknown.intersection(names):
            return Span("?", Style.WARNING)
        number = sum(getattr(summary, name) for name in names)
        return Span(f"{number:,}" if number else "", style)

    def number(value: float | None) -> Span:
        return Span("" if value is None else number_text(value), Style.NUMBER)

    return [
        column("NaN", 5, lambda s: count(s, Style.NAN, "nan")),
        column("±inf", 5, lambda s: count(s, Style.INF, "neg_inf", "pos_inf")),
        column("min", 10, lambda s: number(s.min)),
        column("max", 10, lambda s: number(s.max)),
        column("mean", 10, lambda s: number(s.mean), 6),
        column("std", 10, lambda s: number(s.std), 7),
    ]


def start_us(context: Context) -> int | None:
    """When the first tensor of the run was made, in microseconds; None where no times were kept."""
    store = context.run.tensors
    return store[0].time_us if len(store) else None


@once_per_graph
def _devices(graph: Graph) -> frozenset[str]:
    """The devices of `graph`, which takes a look at each of its nodes."""
    return frozenset(graph.devices())


def _several_devices(context: Context) -> bool:
    run = context.run
    devices = set(_devices(run.graph))
    if len(devices) < 2:
        devices.update(map(devices_of(run.tensors), range(min(len(run.tensors), _ROWS_SAMPLED))))
    return len(devices) > 1


def tensor_data(context: Context, index: int) -> dict[str, Any]:
    """The JSON form of a tensor's description, as docs/commands.md fixes it."""
    tensor = context.run.tensors[index]
    start = start_us(context)
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
        "role": None if (role := tensor_role(context.run.graph, tensor)) is None else str(role),
        **({"worker": context.call.worker} if context.call.worker else {}),
    }
