"""Rows that a mask of -inf has closed throughout: not the mask is to blame, but what takes the largest of them."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.ops.kinds import LITERALS


def closed_rows(run: Run, lineage: Lineage, bad: int) -> int | None:
    """The first tensor that has the largest of each row, of which a mask of -inf has closed some throughout.

    None where there is none, or the tensor at `bad` is no -inf that the program wrote down.
    """
    if not _is_minus_infinity(run, lineage, bad):
        return None
    for index in range(len(run.tensors)):
        node, value = lineage.node(index), run.tensors.value(index)
        if node is None or node.op_type != "Max" or not _is_real(value) or not np.isneginf(value).any():
            continue
        rows = next((item.value for item in lineage.inputs(index)), None)
        if rows is not None and _is_real(rows) and np.isfinite(rows).any():
            return index
    return None


def _is_minus_infinity(run: Run, lineage: Lineage, index: int) -> bool:
    node, value = lineage.node(index), run.tensors.value(index)
    if node is None or node.op_type not in LITERALS or not _is_real(value) or not value.size:
        return False
    return bool(np.isneginf(value.flat[0]) and np.isneginf(value).all())


def _is_real(value: Value) -> TypeGuard[Array]:
    """Whether `value` holds floating-point numbers that are not complex."""
    return not isinstance(value, NoValue) and value.dtype.kind in "fV"
