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
    read_before_update,
)
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run
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
    """The series, layer by layer in the order of the graph; how many runs have none, or cannot be read."""

    series: tuple[Series, ...]
    without: int = 0
    unreadable: int = 0


def trends(runs: Sequence[Run], wanted: Callable[[Run], bool] = lambda run: True) -> Trends:
    """The trends over those of `runs`, the oldest first, that are `wanted`."""
    found: dict[tuple[str, Quantity], list[tuple[int, float]]] = {}
    without = unreadable = 0
    for place in range(len(runs)):
        try:
            run = runs[place]
            if not wanted(run):
                continue
            norms = _norms(run)
        except TfdbgError:
            unreadable += 1
            continue
        without += not norms
        for key, parts in norms.items():
            found.setdefault(key, []).append((run.call.number, math.hypot(*parts)))
    names = _trained(found)
    series = [
        Series(name, quantity, *zip(*found[name, quantity], strict=True))
        for name in names
        for quantity in Quantity
        if (name, quantity) in found
    ]
    return Trends(tuple(series), without, unreadable)


def _trained(found: Mapping[tuple[str, Quantity], object]) -> list[str]:
    """The layers that have gradients: metrics and counters are variables, too.

    All, where no gradient is known by the layer of a variable, as in a program that names none.
    """
    by_quantity = {quantity: {name for name, of in found if of is quantity} for quantity in Quantity}
    known = by_quantity[Quantity.GRADIENT] & by_quantity[Quantity.WEIGHT]
    return [
        name
        for name in dict.fromkeys(name for name, _ in found)
        if not known or name in by_quantity[Quantity.GRADIENT]
    ]


def _norms(run: Run) -> dict[tuple[str, Quantity], list[float]]:
    """The norms of one run: a number for each variable of a layer, and for each time that it was computed."""
    graph, layers = run.graph, layers_of(run.graph)
    found: dict[tuple[str, Quantity], list[float]] = {}

    def add(node: str, quantity: Quantity, value: Array) -> None:
        norm = norm_of(value)
        if norm is not None:
            found.setdefault((_layer(layers, node), quantity), []).append(norm)

    for node, weight, after in _weights(run):
        add(node, Quantity.WEIGHT, weight)
        if after is not None and after.shape == weight.shape:
            wide = [value.astype(complex if value.dtype.kind == "c" else float) for value in (after, weight)]
            add(node, Quantity.UPDATE, wide[0] - wide[1])
    for index in range(len(run.tensors)):
        tensor = run.tensors[index]
        if is_final_gradient(graph, tensor.node, tensor.slot, tensor.op_type) and tensor.shape:
            value = run.tensors.value(index)
            if not isinstance(value, NoValue):
                add(tensor.node, Quantity.GRADIENT, value)
    return found


def _layer(layers: Layers, node: str) -> str:
    return scope_text(layers.layer(node)) or node


def _weights(run: Run) -> Iterator[tuple[str, Array, Array | None]]:
    """The variables that the forward pass reads and the run writes: a node, the value before, and that after."""
    graph, store = run.graph, run.tensors
    for node in graph:
        handle = node.inputs[0].node if node.op_type == UPDATED_VARIABLE and node.inputs else node.name
        rows = store.named(node.name, 0) if node.op_type in _SHOWN else ()
        if not rows or not _is_weight(graph, handle):
            continue
        last = store.value(rows[-1])
        if node.op_type == UPDATED_VARIABLE:
            before = read_before_update(graph, store, rows[0])
            if before is not None and not isinstance(before, NoValue):
                yield node.name, before, None if isinstance(last, NoValue) else last
        elif not isinstance(last, NoValue) and not any(
            reader.op_type == UPDATED_VARIABLE for reader, _ in graph.consumers(handle)
        ):
            yield node.name, last, None


def _is_weight(graph: Graph, handle: str) -> bool:
    """Whether the forward pass reads the variable, as it does none of an optimizer's own, and something writes it."""
    roles = [role_of(graph, reader.name, reader.op_type) for reader, _ in graph.consumers(handle)]
    return Role.FORWARD in roles and Role.UPDATE in roles
