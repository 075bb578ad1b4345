"""Which bad elements a tf.where lets pass: of a masked tensor those alone do harm."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.kinds import SELECTS


def chosen(run: Run, graph: Graph, place: int, bad: Array) -> Array:
    """Those of the `bad` elements of the tensor at `place` that a tf.where chooses, if such ops alone read it.

    All of them where something else reads it, where it is not known what is chosen, and where nothing bad is.
    """
    tensor = run.tensors[place]
    found = np.zeros_like(bad)
    for reader, slot in graph.consumers(tensor.node):
        if slot != tensor.slot:
            continue
        mask = (
            None if is_gradient(graph, reader.name) else _mask(run, reader, tensor.name, tensor.execution, bad.shape)
        )
        if mask is None:
            return bad
        found |= bad & mask
    return found if found.any() else bad


def _mask(run: Run, reader: Node, name: TensorName, execution: int, shape: tuple[int, ...]) -> Array | None:
    """Where `reader` chooses the tensor `name`, of that `shape`; None where it is no tf.where, or not known."""
    if reader.op_type not in SELECTS or reader.inputs[1:].count(name) != 1 or name == reader.inputs[0]:
        return None
    condition = reader.inputs[0]
    rows = run.tensors.named(condition.node, condition.slot)
    at = [row for row in rows if run.tensors[row].execution == execution] or list(rows[-1:])
    value = run.tensors.value(at[0]) if at else None
    if value is None or isinstance(value, NoValue):
        return None
    return taken(reader.op_type, 1 if reader.inputs[1] == name else 2, value, shape)


def taken(op_type: str, position: int, condition: Array, shape: tuple[int, ...]) -> Array | None:
    """Where a tf.where of `op_type` takes its input at `position`, 1 or 2, in a result of `shape`.

    None where `condition` does not tell it: it holds no truths, or does not fit the shape.
    """
    if condition.dtype != np.bool_:
        return None
    if condition.shape != shape and (op_type == "Select" or not _fits(condition.shape, shape)):
        return None
    mask = np.broadcast_to(condition, shape)
    return mask if position == 1 else ~mask


def _fits(condition: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(condition, shape) == shape
    except ValueError:
        return False
