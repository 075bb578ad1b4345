"""A value that `set` put in the place of another is where two runs part, however little the two are apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import compared_runs
from tfdbg_cli.analysis.difference.set_values import set_in
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run

X = np.array([[3, 4], [0, 0]], np.float32)


def _norm(root: object = None, weight: float = 1.0) -> Run:
    square = (X**2).sum(1)
    root = np.sqrt(square) if root is None else np.asarray(root, np.float32)
    held = np.float32(weight)
    return made_run(
        op("x", "Placeholder", value=X), op("square", "Square", "x", value=X**2),
        op("sum", "Sum", "square", value=square), op("root", "Sqrt", "sum", value=root),
        op("w", "VarHandleOp"), op("read", "ReadVariableOp", "w", value=held),
        op("scaled", "Mul", "root", "read", value=root * held),
    )  # fmt: skip


@pytest.mark.parametrize("eps", [1e-7, 1e-6, 1e-3])
def test_what_origin_advises_to_set_is_no_rounding(eps: float) -> None:
    """A blind test: a root near 0 may be that far off, so `diff` called what was set rounding that had grown."""
    base = _norm()
    made = replace(_norm(root=[5, eps]), change=Change(base, {TensorName("root", 0): np.float32([5, eps])}, 1))
    for runs in ((base, made), (made, base)):
        found = compared_runs(*runs)
        states = {base.tensors[one.rows[0]].node: one.state for one in found.verdicts}
        assert states["root"] is TensorFate.NEW
        assert found.first is not None and base.tensors[found.first.rows[0]].node == "root"


def test_a_variable_that_was_set_shows_where_it_is_read() -> None:
    base = _norm()
    handle = TensorName("w", 0)
    made = replace(_norm(weight=1 + 2**-23), change=Change(base, {handle: np.float32(1 + 2**-23)}, 2))
    found = compared_runs(base, made)
    states = {base.tensors[one.rows[0]].node: one.state for one in found.verdicts}
    assert states["read"] is TensorFate.NEW
    read = TensorName("read", 0)
    assert set_in(made, read, made.graph.node("read")) == handle
    assert set_in(base, read, base.graph.node("read")) is None
    assert set_in(made, TensorName("root", 0), made.graph.node("root")) is None
