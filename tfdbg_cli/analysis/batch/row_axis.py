"""Whether what a program takes one by one of a tensor are its rows, or steps of a time that goes before the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from tfdbg_cli.analysis.batch.weights import are_weights
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, row_set
from tfdbg_cli.analysis.graph.axes.whole_items import cut_out
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements, given_arrays
from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.ops.kinds import WHERE_INPUTS

_SEQUENCES = 3  # axes of a batch of them: [batch, time, features], or the first two the other way round


def given_shape(run: Run, source: str) -> Shape | None:
    """The shape of what came in as `source`; None where that is not known."""
    name = tensor_name_of(source)
    fed = fed_elements(run.call.feeds, name)
    rows = run.tensors.named(name.node, name.slot) if fed is None else []
    return fed.shape if fed is not None else run.tensors[rows[0]].shape if rows else None


def why_no_rows(
    run: Run, lineage: Lineage, source: str, used: Collection[TensorName], leads_across: Callable[[], bool]
) -> str:
    """Why places along axis 0 of `source` are no rows of a batch, in words; empty where they are taken for such.

    What else came in tells it by its length, unless it was `used` to make what is asked about, as numbers of the
    model are. Where nothing does, a tensor of three axes has its rows along either of two, if the way from what is
    asked about also `leads_across`: along axis 1. Of all batches, one below the other, a step takes one.
    """
    shape = given_shape(run, source)
    if shape is None or len(shape) < 2:
        return ""
    if len(shape) >= _SEQUENCES and len(_places_taken(run, lineage, source)) == 1:
        return f"of {source} the run takes a single place along axis 0, which may be a batch of its own"
    lengths = dict(_lengths_beside(run, source, used))
    if shape[0] in lengths.values():
        return ""
    like_columns = next((name for name, length in lengths.items() if length == shape[1]), None)
    if like_columns is not None:
        return (
            f"of {source} single places along axis 0 were taken, but {like_columns} has a row for each along axis 1"
        )
    if len(shape) == _SEQUENCES and leads_across():
        return f"the way back leads along axes 0 and 1 of {source}, and nothing tells which of them has the rows"
    return ""


def _places_taken(run: Run, lineage: Lineage, source: str) -> set[int]:
    """The places along axis 0 of `source` that ops of the run cut out of it."""
    given, found = tensor_name_of(source), set[int]()
    for reader in {reader.name: reader for reader, _ in run.graph.consumers(given.node)}.values():
        for made in run.tensors.named(reader.name):
            cuts = cut_out(row_set(run, lineage, made, reader, WHOLE, np.zeros(0, np.int64)))
            found.update(row for way in cuts if way.axis == 0 for row in way.rows.tolist())
    return found


def _lengths_beside(run: Run, source: str, used: Collection[TensorName]) -> Iterator[tuple[str, int]]:
    """How many rows everything has that came in beside `source`, and is no axis, place or shape."""
    for name, array in given_arrays(run).items():
        other = tensor_name_of(name)
        if array is None or not array.ndim or other == tensor_name_of(source) or other in used:
            continue
        if _is_data(run, other):
            yield name, len(array)


def _is_data(run: Run, given: TensorName) -> bool:
    """Whether an op of the forward pass computes with what was `given`, other than weights are.

    Gradients are given values of variables.
    """
    node, roles = run.graph.find(given.node), roles_of(run.graph)
    if node is not None and are_weights(run, node):
        return False
    readers = {reader.name: reader for reader, _ in run.graph.consumers(given.node)}.values()
    return any(
        read == given and at not in WHERE_INPUTS.get(reader.op_type, ())
        for reader in readers
        if roles.get(reader.name, Role.FORWARD) is Role.FORWARD
        for at, read in enumerate(reader.inputs)
    )
