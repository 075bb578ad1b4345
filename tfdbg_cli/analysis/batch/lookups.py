"""Rows that are looked up by numbers that came in, too: of a table, or of data out of which a batch is gathered.

Both look alike: an embedding of tokens and records that an order names. What else came in tells them apart. Where the
same numbers name rows of something as long (labels, say), both are data. Where something has a row for each of the
numbers, it and they are the batch, and what they name is a table; so it is where a loop is given it in each turn and
data of another length anew. Else nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import Lookup
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import given_arrays
from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.ops.kinds import COPIES, GATHERS, RESHAPES, WHERE_INPUTS

_HANDS_ON = COPIES | RESHAPES | {"Cast"}
_MOST_STEPS = 50
_INDICES, _AXIS = 1, 2  # inputs of a gather
_PAIR = 3  # numbers in a row of those that name rows: so few may be pairs, or triples, of records


def lookup_in(run: Run, lineage: Lineage, given: TensorName) -> Lookup | None:
    """How rows are looked up in what was `given`; None where it is used otherwise, too, or that is not known."""
    readers = [(reader, at) for reader, at in _readers(run, given) if at not in WHERE_INPUTS.get(reader.op_type, ())]
    if not readers or not all(at == 0 and _gathers_rows(lineage, reader) for reader, at in readers):
        return None
    came = _came_in(run)
    named_by = {_source(run, reader.inputs[_INDICES]) for reader, _ in readers}
    indices = next(iter(named_by))
    if len(named_by) > 1 or given not in came or indices not in came or not came[indices]:
        return None
    rows, numbers = came[given][0], came[indices]
    if numbers[0] < 2 or rows == numbers[0]:
        return None
    beside = [other for other in came if other not in (given, indices) and came[other]]
    if any(came[other][0] == rows for other in beside):
        return None
    few = len(numbers) > 1 and numbers[-1] <= _PAIR
    has_rows = any(came[other][0] == numbers[0] and _is_data(run, other) for other in beside)
    is_table = not few and (has_rows or given.node in run.call.unchanged)
    return Lookup(str(given), str(indices), is_table)


def _readers(run: Run, tensor: TensorName) -> Iterator[tuple[Node, int]]:
    """The ops of the forward pass that read `tensor`, each with the position of that input."""
    roles = roles_of(run.graph)
    for reader in {reader.name: reader for reader, _ in run.graph.consumers(tensor.node)}.values():
        if roles.get(reader.name, Role.FORWARD) is Role.FORWARD:
            yield from ((reader, at) for at, read in enumerate(reader.inputs) if read == tensor)


def _gathers_rows(lineage: Lineage, node: Node) -> bool:
    """Whether `node` looks up along axis 0, of one table for all."""
    if node.op_type not in GATHERS or node.attributes.get("batch_dims", "0") not in ("", "0"):
        return False
    edges = lineage.inputs_of_node(node)
    axis = edges[_AXIS].value if len(edges) > _AXIS else np.array(0)
    return len(edges) > _INDICES and axis is not None and axis.size == 1 and not axis.any()


def _source(run: Run, tensor: TensorName) -> TensorName:
    """What `tensor` is in another shape or type."""
    for _ in range(_MOST_STEPS):
        node = run.graph.find(tensor.node)
        if node is None or node.op_type not in _HANDS_ON or not node.inputs:
            break
        tensor = node.inputs[0]
    return tensor


def _came_in(run: Run) -> Mapping[TensorName, Shape]:
    """The shapes of what was given, or delivered by a pipeline inside of the run."""
    given = {tensor_name_of(name): array.shape for name, array in given_arrays(run).items() if array is not None}
    delivered = {
        run.tensors[row].name: shape
        for node in run.graph
        if delivers(run.graph, node)
        for row in run.tensors.named(node.name)
        if (shape := run.tensors[row].shape) is not None
    }
    return {**given, **delivered}


def _is_data(run: Run, given: TensorName) -> bool:
    """Whether the forward pass computes with what was `given`, and does not only look up rows by it."""
    return any(
        at not in WHERE_INPUTS.get(reader.op_type, ()) and not (reader.op_type in GATHERS and at >= _INDICES)
        for reader, at in _readers(run, given)
    )
