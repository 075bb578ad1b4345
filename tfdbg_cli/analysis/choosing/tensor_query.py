"""Choosing and sorting the tensors of a run. Reads no more of a tensor than the question needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

import numpy as np

from tfdbg_cli.analysis.choosing.fact_masks import holding, holding_op, holding_role, picked, places
from tfdbg_cli.analysis.choosing.sorting import Key, last_of, sorted_in_steps
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Shape, TellsOrder, Tensor, TensorStore
from tfdbg_cli.model.values import Array

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
    """`found`, indices in order of execution, sorted as `query` says; `summary` is called for SortKey.WORST only."""
    return last_of(ordered_in_steps(store, found, query, summary))


def ordered_in_steps(
    store: TensorStore, found: Sequence[int], query: TensorQuery, summary: Callable[[int], Summary | None]
) -> Iterator[Sequence[int] | None]:
    """As `ordered`, in steps: yields None in between, then the result. Only a store's own order may take long."""
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
    if query.sort_by is SortKey.TENSOR_NAME:
        from tfdbg_cli.analysis.choosing.text_sorting import sorted_by_text_in_steps  # a first screen sorts nothing

        def name_key(index: int) -> str:  # asked so often that each call in it would be felt
            name = store[index].name
            return _slot_key(name) if name.slot else name.node

        yield from sorted_by_text_in_steps(found, name_key, reverse=query.reverse)
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
    asked: list[Callable[[str], object]] = [node.search] if node else []
    asked += [lambda name: not exclude.search(name)] if exclude else []
    asked += [query.layer] if query.layer else []
    if asked:
        masks.append(holding(store, "node", asked[0] if len(asked) == 1 else lambda name: _name_fits(name, query)))
    if query.role:
        masks.append(holding_role(store, graph, lambda role: role is query.role))
    known = [mask for mask in masks if mask is not None]
    if not known or len(known) < len(masks):
        return None
    return places(np.logical_and.reduce(known))


def _by_name(store: TensorStore, graph: Graph, query: TensorQuery) -> Sequence[int]:
    """What depends on the node alone is asked once a node, without a look at its tensors."""
    if not (query.node or query.op_type or query.exclude or query.layer or query.role):
        return range(len(store))
    found: list[int] = []
    names = store.nodes()
    if query.node:
        names = list(filter(query.node.search, names))  # of very many, a call of ours for each would be felt
    for name in names:
        if not _name_fits(name, query):
            continue
        indices = store.named(name)
        if query.op_type and indices and not _kind_fits(name, store, indices[0], graph, query.op_type):
            continue
        if query.role:  # a node's outputs may differ in it
            indices = [index for index in indices if tensor_role(graph, store[index]) is query.role]
        found += indices
    return sorted(found)


def _name_fits(name: str, query: TensorQuery) -> bool:
    if query.node and not query.node.search(name):
        return False
    if query.exclude and query.exclude.search(name):
        return False
    return not query.layer or query.layer(name)


def _kind_fits(name: str, store: TensorStore, index: int, graph: Graph, wanted: re.Pattern[str]) -> bool:
    """Whether the op type of node `name` is `wanted`; without a graph its tensor at `index` tells it."""
    node = graph.find(name)
    return wanted.search(node.op_type if node else store[index].op_type) is not None


def _row_test(query: TensorQuery) -> Callable[[Tensor], bool]:
    fits = shape_matcher(query.shape) if query.shape else None

    def admitted(tensor: Tensor) -> bool:
        if query.dtype and not query.dtype.search(tensor.dtype):
            return False
        if query.device and not query.device.search(tensor.device):
            return False
        return fits is None or fits(tensor.shape)

    return admitted


def _soundness(summary: Summary | None) -> tuple[int, float, float]:
    """The sort key for `worst`: smaller is worse.

    First come tensors with NaN or infinities, by how many, then by their share of the elements; after them those of
    which it is only known that there are some. Then finite tensors by magnitude, and last those without numbers.
    """
    if summary is None or (summary.min is None and not summary.any_nonfinite):
        return 2, 0.0, 0.0
    if summary.any_nonfinite or summary.min is None or summary.max is None:
        bad = summary.nonfinite
        return 0, -bad, -bad / summary.size if summary.size else 0.0
    return 1, -max(abs(summary.min), abs(summary.max)), 0.0


def _shape_key(tensor: Tensor) -> tuple[int, Shape]:
    if tensor.shape is None:
        return -1, ()
    return len(tensor.shape), tensor.shape


def _slot_key(name: TensorName) -> str:
    """A text that sorts by node, then by slot: behind the name of the node, which stands for its first output."""
    return f"{name.node}\0{name.slot}" if name.slot < 10 else f"{name.node}\0~{name.slot:012}"


_SORT_KEYS: dict[SortKey, Callable[[Tensor], Key]] = {
    SortKey.DUMP_SIZE: lambda t: -1 if t.nbytes is None else t.nbytes,
    SortKey.OP_TYPE: attrgetter("op_type"),
    SortKey.DTYPE: attrgetter("dtype"),
    SortKey.SHAPE: _shape_key,
    SortKey.DEVICE: attrgetter("device"),
}

_AXES = re.compile(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)|([^\[\]()]+)")


def shape_matcher(text: str) -> Callable[[Shape | None], bool]:
    """A test for shapes: `5,?,3` has three axes, `?` (or -1) any length, `*` any number of axes; `[]` is a scalar.

    Raises:
        TfdbgError: an axis is none of these.

    """
    match = _AXES.fullmatch(text.strip())
    inner = (text if match is None else match[match.lastindex or 0]).strip()
    axes = [axis.strip() for axis in inner.split(",")] if inner else []
    if len(axes) > 1 and not axes[-1]:  # as Python writes a tuple of one: (5,)
        axes.pop()
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
