"""Which elements of what an op gives are made together, and out of which elements of its inputs.

A softmax makes each row along its last axis of that row alone. One that is written out takes the largest of such a
row from its elements first. Whether an infinity is what makes a group of them NaN, the other groups tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import row_set
from tfdbg_cli.analysis.graph.making.begun_elements import BY_CHANNEL, spreads_to
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import CROSS_ENTROPIES, SHARES

SOFTMAXES = CROSS_ENTROPIES | SHARES


@dataclass(frozen=True)
class OpGroups:
    """Groups of the elements of one result.

    `of_result` says for marks of its elements which groups have one, `of_input` so for marks of the elements of the
    input at a position; None where that input is not told apart by them. With `shared` each group is what a softmax,
    in one op or written out, divides a share of 1 among.
    """

    of_result: Callable[[Array], Array]
    of_input: Callable[[int, Array], Array | None]
    shared: bool = False


def op_groups(
    run: Run, lineage: Lineage, index: int, node: Node, inputs: Sequence[InputSeen], value: Array
) -> OpGroups | None:
    """The groups of `value`, the tensor at `index`, which `node` made of `inputs`; None where nobody can tell."""
    if node.op_type in SOFTMAXES:
        return _of_softmax(node, inputs, value)
    if not value.ndim:
        return None
    if node.op_type in ELEMENTWISE - BY_CHANNEL:
        return _of_elements(node, inputs, value.shape)
    return _of_rows(run, lineage, index, node, value)


def _of_softmax(node: Node, inputs: Sequence[InputSeen], value: Array) -> OpGroups | None:
    logits = inputs[0].value if inputs else None
    if logits is None or not logits.ndim or value.shape not in (logits.shape, logits.shape[:-1]):
        return None

    def along(marked: Array) -> Array:
        return np.asarray(marked.any(axis=-1) if marked.shape == logits.shape else marked)

    def of_input(position: int, marked: Array) -> Array | None:
        return along(marked) if marked.shape in (logits.shape, logits.shape[:-1]) else None

    return OpGroups(along, of_input, shared=True)


def _of_elements(node: Node, inputs: Sequence[InputSeen], shape: Shape) -> OpGroups:
    """Groups along the axes along which an input is one number, as a maximum is; else along the last of several."""
    found = [item.value.shape for item in inputs if item.value is not None and item.value.ndim == len(shape)]
    axes = tuple(axis for axis, size in enumerate(shape) if size > 1 and any(one[axis] == 1 for one in found))
    apart = axes or ((len(shape) - 1,) if len(shape) > 1 else ())

    def of_result(marked: Array) -> Array:
        return np.asarray(marked.any(axis=apart))

    def of_input(position: int, marked: Array) -> Array | None:
        fits = marked.ndim <= len(shape) and spreads_to(marked.shape, shape)
        return of_result(np.broadcast_to(marked, shape)) if fits else None

    return OpGroups(of_result, of_input, shared=bool(axes) and node.op_type == "Sub")


def _of_rows(run: Run, lineage: Lineage, index: int, node: Node, value: Array) -> OpGroups | None:
    """The rows of axis 0, where each was made of the same one of an input."""
    every = np.arange(len(value))
    ways = ways_back(row_set(run, lineage, index, node, 0, every))
    kept = {way.position for way in ways if way.axis == 0 and np.array_equal(way.rows, every)}
    if not kept:
        return None

    def rows(marked: Array) -> Array:
        return np.asarray(marked.reshape(len(marked), -1).any(axis=1))

    def of_input(position: int, marked: Array) -> Array | None:
        return rows(marked) if position in kept and marked.shape[:1] == value.shape[:1] else None

    return OpGroups(rows, of_input)
