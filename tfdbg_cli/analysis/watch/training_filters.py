"""Filters that depend on the role of a tensor in training: gradients, ReLU activations, variables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdbg_cli.analysis.graph.nodes.roles import Role, is_weight, role_by_name, role_of
from tfdbg_cli.analysis.watch.datum import TensorDatum
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import BEFORE_UPDATE, UPDATED_VARIABLE, before_update, updated_variable
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.ops.kinds import NUMBERS_LOOKED_AT, REFERENCE_VARIABLES, RELUS

_READ = REFERENCE_VARIABLES | {"ReadVariableOp"}


def gradient_norm_below(datum: TensorDatum, tensor: Value, limit: float) -> bool:
    """Whether `tensor` is a final gradient (`is_final_gradient`) with an L2 norm of at most `limit`."""
    norm = _gradient_norm(datum, tensor)
    return norm is not None and norm <= limit


def gradient_norm_above(datum: TensorDatum, tensor: Value, limit: float) -> bool:
    """Whether `tensor` is a final gradient with an L2 norm above `limit`, or that is not finite."""
    norm = _gradient_norm(datum, tensor)
    return norm is not None and not norm <= limit


def _gradient_norm(datum: TensorDatum, tensor: Value) -> float | None:
    """The L2 norm of a final gradient; None for any other tensor.

    Gradients on the way from the loss to a variable do not count, since zeros are common there.
    """
    if isinstance(tensor, NoValue):
        return None
    if not is_final_gradient(datum.graph, datum.node_name, datum.output_slot, datum.op_type):
        return None
    return norm_of(tensor)


def norm_of(tensor: Array) -> float | None:
    """The L2 norm over all elements; NaN or infinite if an element is, None for no elements or for integers."""
    if not is_inexact(tensor.dtype) or not tensor.size:
        return None
    wide = in_double(tensor)
    scale = float(np.abs(wide).max())
    if not math.isfinite(scale) or scale == 0:
        return scale
    return scale * float(np.linalg.norm(wide / scale))  # scaled, since squares could overflow or underflow


def is_final_gradient(graph: Graph, node: str, slot: int, op_type: str) -> bool:
    """Whether output `slot` of `node` is a gradient that no other gradient op reads, as one applied to a variable."""
    if op_type in NUMBERS_LOOKED_AT or role_of(graph, node, op_type) is not Role.GRADIENT:
        return False
    return not any(
        role_of(graph, reader.name, reader.op_type) is Role.GRADIENT
        for reader, read in graph.consumers(node)
        if read == slot and reader.op_type not in NUMBERS_LOOKED_AT
    )


def dead_relu(datum: TensorDatum, tensor: Value, share: float) -> bool:
    """Whether `tensor` is the output of a ReLU with at least `share` dead units (`has_dead_units`)."""
    return not isinstance(tensor, NoValue) and datum.op_type in RELUS and has_dead_units(tensor, share)


def has_dead_units(tensor: Array, share: float) -> bool:
    """Whether at least `share` (0 to 1) of the units, which are the last axis, are nowhere above zero."""
    if not is_inexact(tensor.dtype) or not tensor.size or not tensor.ndim:
        return False
    with np.errstate(invalid="ignore"):  # NaN is not above zero
        above = tensor > 0
    units = above.reshape(-1, tensor.shape[-1]).any(axis=0)
    return is_dead(float(units.mean()), share)


def is_dead(alive: float, share: float) -> bool:
    """Whether a ReLU counts as dead if the share `alive` of its units is above zero: at least `share` are not."""
    return 1 - alive >= share


def unchanged_variable(datum: TensorDatum, tensor: Value) -> bool:
    """Whether `tensor` is a variable that its run writes, but that has the same bits as before.

    The value after the update is compared with that before it or the first one read, if the run shows both; otherwise
    the values of the same node in this run and in the one before are compared.
    """
    if isinstance(tensor, NoValue) or not tensor.size:
        return False
    before: Value | None = None
    if datum.op_type == UPDATED_VARIABLE:
        before = _before_update(datum)
    elif datum.op_type in _READ and _is_written(datum.graph, datum.node_name):
        before = _in_earlier(datum)
    return before is not None and not isinstance(before, NoValue) and _same(before, tensor)


def update_ratio_above(datum: TensorDatum, tensor: Value, limit: float) -> bool:
    """Whether `tensor` is a weight of two axes or more whose update is larger than `limit` of what it was before.

    Both are L2 norms. Weights that began at 0 do not count, nor do vectors, such as offsets, which are near 0 in many
    a training that goes well.
    """
    if isinstance(tensor, NoValue) or tensor.ndim < 2 or datum.op_type != UPDATED_VARIABLE:
        return False
    if not is_inexact(tensor.dtype) or not is_weight(datum.graph, _handle(datum.graph, datum.node_name)):
        return False
    before = _before_update(datum)
    if before is None or isinstance(before, NoValue) or before.shape != tensor.shape:
        return False
    was, change = norm_of(before), norm_of(in_double(tensor) - in_double(before))
    return was is not None and change is not None and was > 0 and change / was > limit


def _before_update(datum: TensorDatum) -> Value | None:
    """What a variable, whose value after its update is asked about, held before; None where nobody knows."""
    before = read_before_update(datum.graph, datum.store, datum.index)
    return _in_earlier(datum) if before is None else before


def _in_earlier(datum: TensorDatum) -> Value | None:
    """What the same tensor held in the run before."""
    if datum.earlier is None:
        return None
    store = datum.earlier.tensors
    same = store.named(datum.node_name, datum.output_slot)
    return store.value(same[0]) if same else None


def _handle(graph: Graph, node: str) -> str:
    """The node whose handle `node` reads or writes; a variable of version 1 is its own."""
    found = graph.find(node)
    return found.inputs[0].node if found is not None and found.inputs else node


def read_before_update(graph: Graph, store: TensorStore, index: int) -> Value | None:
    """The value, before its update, of the variable whose value after it is at `index`; None if it was never read."""
    rows = rows_before_update(graph, store, index)
    if rows and store[rows[0]].op_type == BEFORE_UPDATE:
        return store.value(rows[0])
    values = (store.value(row) for row in rows)
    return next((value for value in values if not isinstance(value, NoValue)), None)


def rows_before_update(graph: Graph, store: TensorStore, index: int) -> list[int]:
    """The tensors with values, before its update, of the variable whose value after it is at `index`; best first."""
    tensor = store[index]
    for row in store.named(before_update(updated_variable(tensor.node))):
        if store[row].op_type == BEFORE_UPDATE and store[row].execution == tensor.execution:
            return [row]
    handle = _handle(graph, tensor.node)
    users = [node for node, _ in graph.consumers(handle)]
    writers = {node.name for node in users if role_by_name("", node.op_type) is Role.UPDATE}
    # What waits for an update gives what that has written.
    readers = [node.name for node in users if node.op_type in _READ and writers.isdisjoint(node.control_inputs)]
    return sorted(row for name in (handle, *readers) for row in store.named(name) if row < index)


def _is_written(graph: Graph, node: str) -> bool:
    readers = graph.consumers(_handle(graph, node))
    return any(role_by_name("", reader.op_type) is Role.UPDATE for reader, _ in readers)


def _same(first: Array, second: Array) -> bool:
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.hasobject:
        return bool(np.array_equal(first, second))
    return bool(np.array_equal(_bits(first), _bits(second)))


def _bits(array: Array) -> Any:
    """The bytes of `array`, for a comparison in which a NaN equals itself."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
