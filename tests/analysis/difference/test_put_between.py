"""An op that one run has more: a divergence, though a normalization hides it, unless something evens it out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.model.runs import Run

X = np.random.RandomState(1).randn(16, 8).astype(np.float32)


def _normalized(put: str = "") -> Run:
    """tanh(x), with something put behind it, less its mean, by the root of its variance."""
    value = np.tanh(X)
    ops: list[Op] = [op("x", "Placeholder", value=X), op("act", "Tanh", "x", value=value)]
    reads = "act"
    if put:
        by = value.max(1, keepdims=True) if put == "computed" else np.float32(1.5)
        kind = {"constant": "Const", "variable": "ReadVariableOp", "computed": "Max"}[put]
        ops.append(op("by", kind, *(["act"] if put == "computed" else []), value=by))
        value = value - by if put == "computed" else value * by
        ops.append(op("put", "Sub" if put == "computed" else "Mul", "act", "by", value=value))
        reads = "put"
    mean = value.mean(1, keepdims=True)
    centred = value - mean
    root = (1 / np.sqrt((centred.astype(np.float64) ** 2).mean(1, keepdims=True))).astype(np.float32)
    normal: Any = centred * root
    ops += [
        op("mean", "Mean", reads, value=mean), op("centred", "Sub", reads, "mean", value=centred),
        op("root", "Foo", "centred", value=root), op("normal", "Mul", "centred", "root", value=normal),
    ]  # fmt: skip
    return made_run(*ops, op("out", "Tanh", "normal", value=np.tanh(normal)))


def _first(found: Comparison, side: int = 0) -> str | None:
    return None if found.first is None else found.runs[side].tensors[found.first.rows[side]].node


@pytest.mark.parametrize("put", ["constant", "variable"])
def test_what_is_scaled_before_a_normalization_is_a_divergence(put: str) -> None:
    plain, scaled = _normalized(), _normalized(put)
    for runs in ((plain, scaled), (scaled, plain)):
        found = compared_runs(*runs)
        assert _first(found) == "mean" and not found.same
        states = {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}
        assert states["centred"] is TensorFate.FOLLOWS and states.get("out") in {None, TensorFate.ROUNDED}
        assert found.first is not None
        names = {name for item in found.inputs(found.first) for name in item.names}
        assert names == {"act:0", "put:0"}


def test_what_is_taken_from_itself_first_is_another_way_to_the_same() -> None:
    """As a softmax is made safe: exp(x - max(x))."""
    plain, safe = _normalized(), _normalized("computed")
    for runs in ((plain, safe), (safe, plain)):
        assert compared_runs(*runs).first is None


def test_what_an_op_behind_it_undoes_is_another_way_to_the_same() -> None:
    def run(*, early: bool) -> Run:
        half, whole = X / 2, X
        two, halves = op("two", "Const", value=np.float32(0.5)), op("halves", "Mul", "x", "two", value=half)
        inner = half if early else whole
        steps: list[Op] = [op("x", "Placeholder", value=X), two]
        steps += [halves] if early else []
        steps.append(op("tile", "Tile", "halves" if early else "x", value=inner))
        steps += [] if early else [op("late", "Mul", "tile", "two", value=half)]
        return made_run(*steps, op("out", "Tanh", "tile" if early else "late", value=np.tanh(half)))

    for early in (False, True):
        assert compared_runs(run(early=early), run(early=not early)).first is None
