"""How large gradients, weights and updates were, layer by layer and run by run, as L2 norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.graph.nodes.membership import is_replica_scope
from tfdbg_cli.analysis.graph.nodes.roles import Role, is_weight, role_of
from tfdbg_cli.analysis.layers.layer_names import Scope
from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.analysis.many_runs.gradient_slices import added_up, rows_of_slices
from tfdbg_cli.analysis.watch.training_filters import is_final_gradient, norm_of, rows_before_update
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import in_double, may_have_fractions
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.series import Quantity, Series
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import TellsSummaries, Tensor, TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import nearest_first, reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, SAME_VALUE

_Norms: TypeAlias = "dict[tuple[str, Quantity], list[float]]"
_SHOWN = REFERENCE_VARIABLES | {UPDATED_VARIABLE}


@dataclass(frozen=True, slots=True)
class Trends:
    """The series, layer by layer in the order of the graph.

    `without` is how many runs have none, `unreadable` how many cannot be read, `others` how many were not wanted.
    `untold` counts gradients with neither a value nor the statistics from which a norm follows.
    """

    series: tuple[Series, ...]
    without: int = 0
    unreadable: int = 0
    untold: int = 0
    others: int = 0


def trends(runs: Sequence[Run], wanted: Callable[[Run], bool] = lambda run: True) -> Trends:
    """The trends over those of `runs`, the oldest first, that are `wanted`."""
    found: dict[tuple[str, Quantity], list[tuple[int, float]]] = {}
    untold: list[str] = []
    without = unreadable = others = 0
    for place in range(len(runs)):
        try:
            run = runs[place]
            if not wanted(run):
                others += 1
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
    return Trends(tuple(series), without, unreadable, len(untold), others)


def _trained(found: Mapping[tuple[str, Quantity], object], untold: Sequence[str]) -> list[str]:
    """The layers with gradients, `untold` ones included, which leaves out variables of metrics and counters.

    If no gradient could be assigned to the layer of a variable, as in a program without layers, all of them.
    """
    by_quantity = {quantity: {name for name, of in found if of is quantity} for quantity in Quantity}
    by_quantity[Quantity.GRADIENT] |= set(untold)
    known = by_quantity[Quantity.GRADIENT] & by_quantity[Quantity.WEIGHT]
    return [
        name
        for name in dict.fromkeys(name for name, _ in found)
        if not known or name in by_quantity[Quantity.GRADIENT]
    ]


def _norms(run: Run) -> tuple[_Norms, list[str]]:
    """The norms of one run: for each layer and quantity, one for each variable and execution.

    Also returns the layer of each gradient whose norm is not known (`untold`).
    """
    graph, store, layers = run.graph, run.tensors, layers_of(run.graph)
    found: _Norms = {}
    untold: list[str] = []

    def add(name: str, quantity: Quantity, norm: float | None) -> None:
        if norm is not None:
            found.setdefault((name, quantity), []).append(norm)

    named: dict[str, str] = {}  # layers, or variables in none, by the variable
    for node, variable, weight, after in _weights(run):
        name = named[variable] = _layer_of_variable(layers.layer(node), variable)
        add(name, Quantity.WEIGHT, _norm(weight))
        if isinstance(weight, Summary) or after is None or isinstance(after, Summary):
            continue  # a difference takes values
        if after.shape == weight.shape:
            wide = [in_double(value) for value in (after, weight)]
            add(name, Quantity.UPDATE, norm_of(wide[0] - wide[1]))
    for index in _gradients(graph, store):
        tensor, held = store[index], _held(store, index)
        layer = layers.layer(tensor.node)
        known = "" if is_replica_scope(layer) else scope_text(layer)
        name = known or _of_variable(graph, tensor.name, named) or scope_text(layer) or tensor.node
        if held is None or _tells_no_norm(held):
            untold.append(name)
        elif not isinstance(held, Summary) and (rows := rows_of_slices(graph, store, tensor.name, held)) is not None:
            add(name, Quantity.GRADIENT, norm_of(added_up(held, rows)))
        elif tensor.shape is not None or not isinstance(held, Summary) or held.size > 1:
            add(name, Quantity.GRADIENT, _norm(held))
    return _by_layer(found, untold)


def _layer_of_variable(layer: Scope, variable: str) -> str:
    """What `variable`, which `layer` reads, is told of: itself, where that is none, or a replica's scope alone."""
    if is_replica_scope(layer):
        return f"{layer[0]}/{variable.removesuffix('/' + layer[0])}"
    return scope_text(layer) or variable


def _by_layer(found: _Norms, untold: Sequence[str]) -> tuple[_Norms, list[str]]:
    """`found` and `untold`, with what is known of a layer's part, such as the cell of an RNN, told of the layer.

    A gradient through a loop is named after the layer, and the weight of the cell in it after the cell. The gradient
    of a batch normalization is named after the scope in it that computes, and its weights after the layer.
    """
    weighed = {name for name, quantity in found if quantity is Quantity.WEIGHT}
    gradients = {*untold, *(name for name, quantity in found if quantity is Quantity.GRADIENT)}
    layer = {name: _nearest(name, weighed) for name in gradients}
    trained = set(layer.values())
    told: _Norms = {}
    for (name, quantity), parts in found.items():
        of = layer[name] if quantity is Quantity.GRADIENT else _nearest(name, trained)
        told.setdefault((of, quantity), []).extend(parts)
    return told, [layer[name] for name in untold]


def _nearest(name: str, scopes: Container[str]) -> str:
    """The innermost of `scopes` in which `name` lies, itself included; `name` if it lies in none."""
    around = (name.rsplit("/", parted)[0] for parted in range(name.count("/") + 1))
    return next((one for one in around if one in scopes), name)


def _gradients(graph: Graph, store: TensorStore) -> list[int]:
    """The rows of final gradients, scalars left out, and of those that updates read, though gradients do, too.

    A tape also computes gradients with respect to data, which the program does not use. So those that no op reads are
    left out, if there are others. So is what other gradients are made of by ops of the forward pass, as where
    tf.recompute_grad makes that once more, or where the norm of a gradient is a part of the loss.
    """
    found = [
        index
        for index in range(len(store))
        if (tensor := store[index]).shape != ()
        and may_have_fractions(tensor.dtype)
        and (is_final_gradient(graph, tensor.node, tensor.slot, tensor.op_type) or _is_applied(graph, tensor))
    ]
    on_the_way = _before(graph, {store[index].node for index in found})
    found = [index for index in found if store[index].name not in on_the_way or _is_applied(graph, store[index])]
    read = [index for index in found if graph.is_read(store[index].name)]
    return read or found


def _is_applied(graph: Graph, tensor: Tensor) -> bool:
    """Whether `tensor` is a gradient that an update reads: that of an offset may go on to other gradients, too."""
    if role_of(graph, tensor.node, tensor.op_type) is not Role.GRADIENT:
        return False
    readers = (reader for reader, slot in graph.consumers(tensor.node) if slot == tensor.slot)
    return any(role_of(graph, reader.name, reader.op_type) is Role.UPDATE for reader in readers)


def _before(graph: Graph, nodes: Iterable[str]) -> frozenset[TensorName]:
    """The tensors of which the `nodes` are made, those left out that only updates lead on from."""

    def read(name: str) -> Sequence[TensorName]:
        node = graph.find(name)
        return () if node is None or updates_variable(node.op_type) else node.inputs

    return frozenset(reached([tensor for name in nodes for tensor in read(name)], lambda one: read(one.node)))


def _held(store: TensorStore, row: int) -> Array | Summary | None:
    """The value at `row`, or its recorded statistics if there is no value; None if there are neither."""
    value = store.value(row)
    if not isinstance(value, NoValue):
        return value
    return store.summary(row) if isinstance(store, TellsSummaries) and may_have_fractions(store[row].dtype) else None


def _norm(held: Array | Summary) -> float | None:
    """The L2 norm, from statistics as sqrt(size * (mean² + std²)); None if it cannot be computed."""
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
    """Whether these are statistics without what a norm follows from; an empty tensor just has no norm."""
    return isinstance(held, Summary) and _norm(held) is None and (held.size > 0 or "size" in held.unknown)


def _of_variable(graph: Graph, gradient: TensorName, named: Mapping[str, str]) -> str:
    """The entry in `named` of the variable that the tensor `gradient` is used to update; empty if that is not clear.

    The gradient is followed downstream, through casts, clipping and optimizer state, to the nearest variable: with
    clipping by the global norm it reaches all variables, but the others by a longer way. If several are equally near,
    the answer is empty.
    """

    def leads_to(tensor: TensorName) -> list[TensorName]:
        """What is made of `tensor`, gradients left out; of a write to optimizer state, what is made of that state."""
        written = graph.find(tensor.node)
        if written is not None and updates_variable(written.op_type) and written.inputs:
            own = TensorName(written.inputs[0].node, 0)
            return [own] if own.node in named else [own, *_made_of(graph, own)]
        return [] if tensor.node in named else _made_of(graph, tensor)

    found = [(named[tensor.node], far) for tensor, far in nearest_first([gradient], leads_to) if tensor.node in named]
    nearest = {name for name, far in found if far == found[0][1]}
    return nearest.pop() if len(nearest) == 1 else ""


def _made_of(graph: Graph, tensor: TensorName) -> list[TensorName]:
    """The outputs of the nodes that read `tensor`, but for gradients; each node has at least the first output."""
    found: list[TensorName] = []
    for reader, slot in graph.consumers(tensor.node):
        if slot != tensor.slot or role_of(graph, reader.name, reader.op_type) is Role.GRADIENT:
            continue
        if SAME_VALUE.get(reader.op_type, 0) is None:  # it hands on each of many, as optimizers do with all gradients
            found += [TensorName(reader.name, at) for at, given in enumerate(reader.inputs) if given == tensor]
        else:
            slots = {0, *(slot for _, slot in graph.consumers(reader.name))}
            found += [TensorName(reader.name, slot) for slot in sorted(slots)]
    return found


def _weights(run: Run) -> Iterator[tuple[str, str, Array | Summary, Array | Summary | None]]:
    """The variables that the forward pass reads and the run writes: node, variable, value before, value after.

    Integer variables, such as step counters, are left out, and those that are known not to be trained, as what a
    batch normalization keeps of the batches.
    """
    graph, store = run.graph, run.tensors
    trainable = {} if run.variables is None else run.variables.trainable
    for node in graph:
        handle = node.inputs[0].node if node.op_type == UPDATED_VARIABLE and node.inputs else node.name
        rows = store.named(node.name, 0) if node.op_type in _SHOWN else ()
        if not rows or not may_have_fractions(store[rows[0]].dtype) or not is_weight(graph, handle):
            continue
        if trainable.get(handle) is False:
            continue
        last = _held(store, rows[-1])
        if node.op_type == UPDATED_VARIABLE:
            earlier = (_held(store, row) for row in rows_before_update(graph, store, rows[0]))
            before = next((held for held in earlier if held is not None), None)
            if before is not None:
                yield node.name, handle, before, last
        elif last is not None and not any(
            reader.op_type == UPDATED_VARIABLE for reader, _ in graph.consumers(handle)
        ):
            yield node.name, handle, last, None
