"""Rows of what a branch or a loop gave: each output is handed on from a result of its own of what was called."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, Way
from tfdbg_cli.analysis.graph.call_results import branch_results, list_length


def of_branches(rows: RowSet) -> list[Way]:
    """The rows of the results that became this output of a conditional: one of each branch that is shown."""
    positions = branch_results(rows.node, rows.slot)
    return _of_any(rows) if positions is None else [way for position in positions for way in rows.same(position)]


def of_loop(rows: RowSet) -> list[Way]:
    """The rows of the result of a loop's body that became this output, or of what the loop began with."""
    outputs = list_length(rows.node, "T")
    if outputs is None or outputs == 1:
        return _of_any(rows)
    return rows.same(rows.slot) if len(rows.inputs) >= outputs else []


def _of_any(rows: RowSet) -> list[Way]:
    return [
        way
        for i, shape in enumerate(rows.inputs)
        if shape is not None and len(shape) == len(rows.shape)
        for way in rows.same(i)
    ]
