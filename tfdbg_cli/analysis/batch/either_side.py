"""Products of a sparse matrix and rows, where either may be the batch.

Of a table whose rows a sparse batch names the sparse one is the batch; where it puts the rows of a batch in another
order it is none. Where both came in from outside, as all does where ops run one by one, nobody can tell.
"""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay
from tfdbg_cli.model.graph import Node


def either_side(rows: RowSet) -> list[RowWay]:
    """The rows of both factors that became `rows` of such a product; empty for other ops, and where nothing did."""
    places = rows.value(0) if rows.node.op_type == "SparseTensorDenseMatMul" else None
    if places is None or places.ndim != 2:
        return []
    stored = np.flatnonzero(np.isin(places[:, 0], rows.rows))
    taken = np.unique(places[stored, 1])
    return [RowWay(1, 0, stored), RowWay(3, 0, taken)] if len(taken) else []


def of_either(node: Node) -> str:
    """Why there are no rows, in words."""
    return f"at {node.name} ({node.op_type}) a sparse matrix takes rows of another, and either may be the batch"
