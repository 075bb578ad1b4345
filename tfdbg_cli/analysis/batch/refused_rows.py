"""Which rows of the batch an op refused, by the range that its error names: indices and labels that are too large."""

from __future__ import annotations

import re

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS, BatchRows
from tfdbg_cli.analysis.batch.rows import batch_rows, rows_of_given
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

# `indices[20,1] = 20 is not in [0, 20)`; `label value of 9 which is outside the valid range of [0, 9)`.
_RANGE = re.compile(r"(?:is not in|outside the valid range of) \[(?P<low>-?\d+), ?(?P<end>-?\d+)\)")


def refused_rows(run: Run) -> BatchRows:
    """The rows of the batch behind the numbers that the op which failed was given out of its range.

    `NO_ROWS` where the run did not fail so, where those numbers are not known, or lead to no batch.
    """
    error = run.error
    said = None if error is None else _RANGE.search(error.message)
    node = None if error is None or error.node is None else run.graph.find(node_of(error.node))
    if said is None or node is None:
        return NO_ROWS
    lineage = Lineage(run)
    for given in lineage.inputs_of_node(node):
        outside = None if given.value is None else _outside(given.value, int(said["low"]), int(said["end"]))
        if outside is None:
            continue
        if given.index is None:
            return rows_of_given(run, lineage, given, outside)
        return batch_rows(run, lineage, given.index, outside)
    return NO_ROWS


def _outside(value: Array, low: int, end: int) -> Array | None:
    """Where the whole numbers of `value` are not in the range; None where it holds others, or all are in it."""
    if value.dtype.kind not in "iu":
        return None
    outside = np.asarray((value < low) | (value >= end))
    return outside if outside.any() else None
