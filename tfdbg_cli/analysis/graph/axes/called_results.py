"""Rows of what a branch or a loop gave: each output is handed on from a result of its own of what was called."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay
from tfdbg_cli.analysis.graph.flow.branches import chosen_branch
from tfdbg_cli.analysis.graph.flow.call_results import branch_results, list_length


def of_branches(rows: RowSet) -> list[RowWay]:
    """The rows of the results that became this output of a conditional: one of each branch that may have been taken.

    If a conditional of one output handed on what it was given, that may be any of its inputs.
    """
    chosen = rows.value(0)
    taken = None if chosen is None else chosen_branch(rows.node, chosen)
    positions = branch_results(rows.node, rows.slot, taken)
    found = [way for position in positions or () for way in rows.same(position)]
    return _of_any(rows) if not found and list_length(rows.node, "Tout") in (None, 1) else found


def of_loop(rows: RowSet) -> list[RowWay]:
    """The rows of the result of a loop's body that became this output, or of what the loop began with."""
    outputs = list_length(rows.node, "T")
    if outputs is None:
        return _of_any(rows)
    return rows.same(rows.slot) if len(rows.inputs) >= outputs else []


def _of_any(rows: RowSet) -> list[RowWay]:
    return [
        way
        for i, shape in enumerate(rows.inputs)
        if shape is not None and len(shape) == len(rows.shape)
        for way in rows.same(i)
    ]
