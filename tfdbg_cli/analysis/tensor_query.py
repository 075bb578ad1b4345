"""Choosing and sorting the tensors of a run. Reads no more of a tensor than the question needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.fact_masks import holding, holding_op, picked, places
from tfdbg_cli.analysis.graph.roles import Role, role_of
from tfdbg_cli.analysis.sorting import Key, last_of, sorted_in_steps
from tfdbg_cli.analysis.watch.datum import TensorDatum, datum_of
from tfdbg_cli.analysis.watch.filter import Bad, Filter, TensorFilter
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Shape, TellsOrder, Tensor, TensorStore, finite_in_steps, summary_of
from tfdbg_cli.model.values import LOST, Array, NoValue

_WORTH_ALL = 16  # where one row of so many is to be sorted, the order of all is asked for


class SortKey(StrEnum):
    """What `lt -s` sorts by; `timestamp` is the order of execution, `worst` what values hold."""

    TIMESTAMP = "timestamp"
    DUMP_SIZE = "dump_size"
    OP_TYPE = "op_type"
    TENSOR_NAME = "tensor_name"
    DTYPE = "dtype"
    SHAPE = "shape"
    DEVICE = "device"
    WORST = "worst"


@dataclass(frozen=True)
class TensorQuery:
    """A question to the tensors of a run. The patterns search anywhere; None admits everything.

    `shape` is the text of a `shape_matcher`. `device` is searched in the device name, `exclude` in node names.
    `layer` is a test of node names (`Layers.tester`).
    """

    node: re.Pattern[str] | None = None
    op_type: re.Pattern[str] | None = None
    dtype: re.Pattern[str] | None = None
    device: re.Pattern[str] | None = None
    shape: str = ""
    exclude: re.Pattern[str] | None = None
    layer: Callable[[str], bool] | None = None
    role: Role | None = None
    sort_by: SortKey = SortKey.TIMESTAMP
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """A filter that raised: on how many tensors, the first of them, and what it raised there first."""

    count: int = 0
    first: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The indices that passed a filter, in order, how often it raised, and how many values it never saw."""

    passed: tuple[int, ...]
    raised: Raised = Raised()
    unread: int = 0


def admitted(store: TensorStore, graph: Graph, query: TensorQuery) -> Sequence[int]:
    """Indices of the tensors that `query` admits, in order of execution.

    Without patterns this is a range: no tensor is looked at.

    Raises:
        TfdbgError: the shape pattern cannot be read.

    """
    told = _told_by_columns(store, graph, query)
    if told is not None:
        return told
    found = _by_name(store, graph, query)
    if query.dtype or query.device or query.shape:
        fits = _row_test(query)
        found = [i for i in found if fits(store[i])]
    return found


def ordered(
    store: TensorStore, found: Sequence[int], query: TensorQuery, summary: Callable[[int], Summary | None]
) -> Sequence[int]:
    """`found`, indices in order of execution, sorted as `query` says; `summary` is asked for the worst alone."""
    return last_of(ordered_in_steps(store, found, query, summary))


def ordered_in_steps(
    store: TensorStore, found: Sequence[int], query: TensorQuery, summary: Callable[[int], Summary | None]
) -> Iterator[Sequence[int] | None]:
    """What `ordered` gives: None while it goes on, then the answer. No step but that of a store takes long."""
    if query.sort_by is SortKey.WORST:
        yield from sorted_in_steps(found, lambda i: _soundness(summary(i)), reverse=query.reverse)
        return
    if query.sort_by is SortKey.TIMESTAMP:
        yield found[::-1] if query.reverse else found
        return
    if len(found) * _WORTH_ALL >= len(store) and isinstance(store, TellsOrder):
        known = store.order(str(query.sort_by), query.reverse)
        if known is not None:
            yield known if len(found) == len(store) else picked(known, found)
            return
    key = _SORT_KEYS[query.sort_by]
    yield from sorted_in_steps(found, lambda i: key(store[i]), reverse=query.reverse)


def _told_by_columns(store: TensorStore, graph: Graph, query: TensorQuery) -> Sequence[int] | None:
    """The same of a store that tells facts of all its tensors at once; None of any other."""
    node, op_type, dtype, device = query.node, query.op_type, query.dtype, query.device
    exclude, fits = query.exclude, shape_matcher(query.shape) if query.shape else None
    masks: list[Array | None] = []
    if op_type:
        masks.append(holding_op(store, graph, op_type.search))
    if dtype:
        masks.append(holding(store, "dtype", dtype.search))
    if device:
        masks.append(holding(store, "device", device.search))
    if fits:
        masks.append(holding(store, "shape", fits))
    if node and not (exclude or query.layer):
        masks.append(holding(store, "node", node.search))
    elif exclude or query.layer:
        masks.append(holding(store, "node", lambda name: _name_fits(name, query)))
    known = [mask for mask in masks if mask is not None]
    if not known or len(known) < len(masks):
        return None
    found = places(np.logical_and.reduce(known))
    if not query.role:
        return found
    of_role = replace(query, op_type=None)
    return [index for index in found if _kind_fits(store[index], graph, of_role)]


def _by_name(store: TensorStore, graph: Graph, query: TensorQuery) -> Sequence[int]:
    """What depends on the node alone is asked once a node, without a look at its tensors."""
    if not (query.node or query.op_type or query.exclude or query.layer or query.role):
        return range(len(store))
    found: list[int] = []
    for name in store.nodes():
        if not _name_fits(name, query):
            continue
        indices = store.named(name)
        if (query.op_type or query.role) and indices and not _kind_fits(store[indices[0]], graph, query):
            continue
        found += indices
    return sorted(found)


def _name_fits(name: str, query: TensorQuery) -> bool:
    if query.node and not query.node.search(name):
        return False
    if query.exclude and query.exclude.search(name):
        return False
    return not query.layer or query.layer(name)


def _kind_fits(tensor: Tensor, graph: Graph, query: TensorQuery) -> bool:
    """Whether the op type and the role of the node of `tensor` are those asked for."""
    node = graph.find(tensor.node)
    op_type = node.op_type if node else tensor.op_type
    if query.op_type and not query.op_type.search(op_type):
        return False
    return query.role is None or role_of(graph, tensor.node, op_type) is query.role


def _row_test(query: TensorQuery) -> Callable[[Tensor], bool]:
    fits = shape_matcher(query.shape) if query.shape else None

    def admitted(tensor: Tensor) -> bool:
        if query.dtype and not query.dtype.search(tensor.dtype):
            return False
        if query.device and not query.device.search(tensor.device):
            return False
        return fits is None or fits(tensor.shape)

    return admitted


def _soundness(summary: Summary | None) -> tuple[int, float]:
    """NaN and infinities first, the first to turn so on top; then by magnitude; then what has no numbers."""
    if summary is None or (summary.min is None and not summary.any_nonfinite):
        return 2, 0.0
    if summary.any_nonfinite or summary.min is None or summary.max is None:
        return 0, 0.0
    return 1, -max(abs(summary.min), abs(summary.max))


def _shape_key(tensor: Tensor) -> tuple[int, Shape]:
    if tensor.shape is None:
        return -1, ()
    return len(tensor.shape), tensor.shape


def _name_key(tensor: Tensor) -> str:
    """One text, since texts are compared in half the time that pairs take: by node, then by slot."""
    return f"{tensor.node}\0{tensor.slot}" if tensor.slot < 10 else f"{tensor.node}\0~{tensor.slot:012}"


_SORT_KEYS: dict[SortKey, Callable[[Tensor], Key]] = {
    SortKey.DUMP_SIZE: lambda t: -1 if t.nbytes is None else t.nbytes,
    SortKey.OP_TYPE: lambda t: t.op_type,
    SortKey.TENSOR_NAME: _name_key,
    SortKey.DTYPE: lambda t: t.dtype,
    SortKey.SHAPE: _shape_key,
    SortKey.DEVICE: lambda t: t.device,
}

_AXES = re.compile(r"^[\[(]?\s*([^\])]*?)\s*,?\s*[\])]?$")


def shape_matcher(text: str) -> Callable[[Shape | None], bool]:
    """A test for shapes: `5,?,3` has three axes, `?` (or -1) any length, `*` any number of axes; `[]` is a scalar.

    Raises:
        TfdbgError: an axis is none of these.

    """
    match = _AXES.match(text.strip())
    inner = match[1] if match else text
    axes = [axis.strip() for axis in inner.split(",")] if inner.strip() else []
    parts: list[str] = []
    for axis in axes:
        if axis == "*":
            parts.append(r"(\d+,)*")
        elif axis in {"?", "-1", "None"}:
            parts.append(r"\d+,")
        elif axis.isdecimal() and axis.isascii():
            parts.append(f"{int(axis)},")
        else:
            raise TfdbgError(
                f"Cannot read the shape {text!r}.",
                hint="Write lengths, ? for any length and * for any axes, such as 5,?,3 or *,10. [] is a scalar.",
            )
    regex = re.compile("".join(parts))

    def fits(shape: Shape | None) -> bool:
        return shape is not None and regex.fullmatch("".join(f"{length}," for length in shape)) is not None

    return fits


# By index: what a filter said, or the text of what it raised; None where the value is lost and it said no.
Answers: TypeAlias = dict[int, "bool | str | None"]


def ask(
    run: Run,
    indices: Sequence[int],
    tensor_filter: TensorFilter,
    known: Answers,
    earlier: Run | None = None,
) -> Verdicts:
    """Put `tensor_filter` to the tensors of `run` at `indices`, one value at a time; `known` is looked up and filled.

    `earlier` is the run of the same function before it. A filter that raises passes nothing by it; that it did is
    counted. The answer may be any object with a truth.
    """
    passed: list[int] = []
    raised = Raised()
    unread = 0
    for _ in ask_in_steps(run, indices, tensor_filter, known, earlier):
        pass
    for index in indices:
        answer = known[index]
        if isinstance(answer, str):
            raised = Raised(raised.count + 1, raised.first or str(run.tensors[index].name), raised.error or answer)
        elif answer:
            passed.append(index)
        elif answer is None:
            unread += 1
    return Verdicts(tuple(passed), raised, unread)


def ask_in_steps(
    run: Run, indices: Sequence[int], tensor_filter: TensorFilter, known: Answers, earlier: Run | None = None
) -> Iterator[float]:
    """Fill `known` with what `tensor_filter` says of the tensors at `indices`; gives the share that was asked."""
    if isinstance(tensor_filter, Filter) and tensor_filter.finds:  # of what is finite it says no
        left = indices if not known else [index for index in indices if index not in known]
        for finite, share in finite_in_steps(run.tensors, left) if left else ():
            known.update(dict.fromkeys(finite, False))
            yield share
    for number, index in enumerate(indices):
        if index not in known:
            known[index] = _answer(datum_of(run, index, earlier), tensor_filter)
            yield number / len(indices)


def _answer(datum: TensorDatum, tensor_filter: TensorFilter) -> bool | str | None:
    value = datum.get_tensor()
    lost = isinstance(value, NoValue) and value.lack in LOST
    if isinstance(value, NoValue):
        told = _told_by_counts(datum, tensor_filter)
        if told is not None:
            return told
    try:
        return bool(tensor_filter(datum, value)) or (None if lost else False)
    except Exception as error:  # noqa: BLE001  # the filter is the user's: anything may come
        return f"{type(error).__name__}: {error}"


def _told_by_counts(datum: TensorDatum, tensor_filter: TensorFilter) -> bool | None:
    """What recorded counts say of a tensor without a value, to a filter that looks for NaN or infinities."""
    finds = tensor_filter.finds if isinstance(tensor_filter, Filter) else Bad.NONE
    summary = summary_of(datum.store, datum.index) if finds else None
    if summary is None or datum.undefined:
        return None
    if finds is Bad.EITHER:
        return summary.any_nonfinite
    names = [*["nan"] * (Bad.NAN in finds), *["neg_inf", "pos_inf"] * (Bad.INFINITE in finds)]
    counts = [summary.told(name) for name in names]
    return True if any(counts) else None if None in counts else False
