"""How large gradients, weights and updates were, layer by layer and run by run, as L2 norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.analysis.graph.roles import Role, role_of
from tfdbg_cli.analysis.layers import Layers, layers_of, scope_text
from tfdbg_cli.analysis.watch.training_filters import (
    UPDATED_VARIABLE,
    is_final_gradient,
    norm_of,
    rows_before_update,
)
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import TellsSummaries, TensorStore
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES

_SHOWN = REFERENCE_VARIABLES | {UPDATED_VARIABLE}


class Quantity(StrEnum):
    """What is measured of a layer: its L2 norm over all variables together."""

    GRADIENT = "gradient"  # with respect to its variables, before the optimizer works on it
    WEIGHT = "weight"  # as the forward pass read it
    UPDATE = "update"  # by how much the run changed the weights


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of the layer `name`: the numbers of the runs in the program, and the norm in each."""

    name: str
    quantity: Quantity
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Trends:
    """The series, layer by layer in the order of the graph; how many runs have none, or cannot be read.

    `untold` counts gradients that are there without values and without statistics that a norm could be made of.
    """

    series: tuple[Series, ...]
    without: int = 0
    unreadable: int = 0
    untold: int = 0


def trends(runs: Sequence[Run], wanted: Callable[[Run], bool] = lambda run: True) -> Trends:
    """The trends over those of `runs`, the oldest first, that are `wanted`."""
    found: dict[tuple[str, Quantity], list[tuple[int, float]]] = {}
    untold: list[str] = []
    without = unreadable = 0
    for place in range(len(runs)):
        try:
            run = runs[place]
            if not wanted(run):
                continue
            norms, lacking = _norms(run)
        except TfdbgError:
            unreadable += 1
            continue
        without += not norms
        untold += lacking
        for key, parts in norms.items():
            found.setdefault(key, []).append((run.call.number, math.hypot(*parts)))
    names = _trained(found, untold)
    series = [
        Series(name, quantity, *zip(*found[name, quantity], strict=True))
        for name in names
        for quantity in Quantity
        if (name, quantity) in found
    ]
    return Trends(tuple(series), without, unreadable, len(untold))


def _trained(found: Mapping[tuple[str, Quantity], object], untold: Sequence[str]) -> list[str]:
    """The layers that have gradients, be they `untold`: metrics and counters are variables, too.

    All, where no gradient is known by the layer of a variable, as in a program that names none.
    """
    by_quantity = {quantity: {name for name, of in found if of is quantity} for quantity in Quantity}
    by_quantity[Quantity.GRADIENT] |= set(untold)
    known = by_quantity[Quantity.GRADIENT] & by_quantity[Quantity.WEIGHT]
    return [
        name
        for name in dict.fromkeys(name for name, _ in found)
        if not known or name in by_quantity[Quantity.GRADIENT]
    ]


def _norms(run: Run) -> tuple[dict[tuple[str, Quantity], list[float]], list[str]]:
    """The norms of one run: a number for each variable of a layer, and for each time that it was computed.

    Besides, the layer of each gradient of which nothing tells a norm.
    """
    graph, store, layers = run.graph, run.tensors, layers_of(run.graph)
    found: dict[tuple[str, Quantity], list[float]] = {}
    untold: list[str] = []

    def add(node: str, quantity: Quantity, norm: float | None) -> None:
        if norm is not None:
            found.setdefault((_layer(layers, node), quantity), []).append(norm)

    for node, weight, after in _weights(run):
        add(node, Quantity.WEIGHT, _norm(weight))
        if isinstance(weight, Summary) or after is None or isinstance(after, Summary):
            continue  # a difference takes values
        if after.shape == weight.shape:
            wide = [value.astype(complex if value.dtype.kind == "c" else float) for value in (after, weight)]
            add(node, Quantity.UPDATE, norm_of(wide[0] - wide[1]))
    for index in range(len(store)):
        tensor = store[index]
        if tensor.shape == () or not _has_norm(tensor.dtype):
            continue
        if is_final_gradient(graph, tensor.node, tensor.slot, tensor.op_type):
            held = _held(store, index)
            if held is None or _tells_no_norm(held):
                untold.append(_layer(layers, tensor.node))
            elif tensor.shape is not None or not isinstance(held, Summary) or held.size > 1:
                add(tensor.node, Quantity.GRADIENT, _norm(held))
    return found, untold


def _held(store: TensorStore, row: int) -> Array | Summary | None:
    """The value at `row`; what was recorded of it in numbers where there is none."""
    value = store.value(row)
    if not isinstance(value, NoValue):
        return value
    return store.summary(row) if isinstance(store, TellsSummaries) and _has_norm(store[row].dtype) else None


def _has_norm(dtype: str) -> bool:
    """Whether tensors of the type called `dtype` have one: those of integers do not. A type that is not known may."""
    element = element_type_named(dtype)
    return element is None or (element.numpy is not None and is_inexact(element.numpy))


def _norm(held: Array | Summary) -> float | None:
    """The L2 norm; None where there is none, or nobody can tell."""
    if not isinstance(held, Summary):
        return norm_of(held)
    if held.any_nonfinite:
        return math.nan if held.nan or held.spoiled else math.inf
    mean, std = held.told("mean"), held.told("std")
    if held.size and held.told("zero") == held.size:
        return 0.0
    if held.any_nonfinite is None or mean is None or std is None:
        return None
    return math.sqrt(held.size) * math.hypot(mean, std)


def _tells_no_norm(held: Array | Summary) -> bool:
    """Whether a norm was not recorded; what has no elements has none."""
    return isinstance(held, Summary) and _norm(held) is None and (held.size > 0 or "size" in held.unknown)


def _layer(layers: Layers, node: str) -> str:
    return scope_text(layers.layer(node)) or node


def _weights(run: Run) -> Iterator[tuple[str, Array | Summary, Array | Summary | None]]:
    """The variables that the forward pass reads and the run writes: a node, what it held before, and after."""
    graph, store = run.graph, run.tensors
    for node in graph:
        handle = node.inputs[0].node if node.op_type == UPDATED_VARIABLE and node.inputs else node.name
        rows = store.named(node.name, 0) if node.op_type in _SHOWN else ()
        if not rows or not _is_weight(graph, handle):
            continue
        last = _held(store, rows[-1])
        if node.op_type == UPDATED_VARIABLE:
            earlier = (_held(store, row) for row in rows_before_update(graph, store, rows[0]))
            before = next((held for held in earlier if held is not None), None)
            if before is not None:
                yield node.name, before, last
        elif last is not None and not any(
            reader.op_type == UPDATED_VARIABLE for reader, _ in graph.consumers(handle)
        ):
            yield node.name, last, None


def _is_weight(graph: Graph, handle: str) -> bool:
    """Whether the forward pass reads the variable, as it does none of an optimizer's own, and something writes it."""
    roles = [role_of(graph, reader.name, reader.op_type) for reader, _ in graph.consumers(handle)]
    return Role.FORWARD in roles and Role.UPDATE in roles
