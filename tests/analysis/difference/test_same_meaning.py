"""Axes and shapes that are written in two ways and mean the same are no divergence; others are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.model.runs import Run

X = np.random.RandomState(1).randn(4, 6, 6).astype(np.float32)


def _run(axis: Any = -1, shape: Any = (4, 36), eps: float = 1e-3) -> Run:
    """x over its mean along an axis, made flat, and something added before the root of it."""
    mean = X.mean(tuple(np.ravel(axis).tolist()), keepdims=True)
    centred = X - mean
    flat = centred.reshape(tuple(shape))
    shifted = flat**2 + np.float32(eps)
    return made_run(
        op("x", "Placeholder", value=X), op("axis", "Const", value=np.array(axis, np.int32)),
        op("mean", "Mean", "x", "axis", value=mean), op("centred", "Sub", "x", "mean", value=centred),
        op("shape", "Const", value=np.array(shape, np.int32)), op("flat", "Reshape", "centred", "shape", value=flat),
        op("square", "Square", "flat", value=flat**2), op("eps", "Const", value=np.float32(eps)),
        op("shifted", "AddV2", "square", "eps", value=shifted), op("root", "Sqrt", "shifted", value=np.sqrt(shifted)),
    )  # fmt: skip


def _first(found: Comparison) -> str | None:
    return None if found.first is None else found.runs[0].tensors[found.first.rows[0]].node


@pytest.mark.parametrize(("axis", "shape"), [(2, (4, 36)), ([2], (4, 36)), (-1, (-1, 36)), (-1, (4, -1))])
def test_the_same_in_other_words_is_no_divergence(axis: Any, shape: Any) -> None:
    found = compared_runs(_run(), _run(axis, shape))
    assert found.same and found.first is None
    assert found.counts[TensorFate.OTHER_WAY] == (np.ndim(axis) == 0)  # those of two shapes are no pair at all


def test_it_hides_no_divergence_behind_it() -> None:
    for runs in ((_run(), _run(2, (-1, 36), 1e-1)), (_run([2], (-1, 36), 1e-1), _run())):
        assert _first(compared_runs(*runs)) == "eps"


@pytest.mark.parametrize(("axis", "shape", "first"), [(1, (4, 36), "axis"), (-1, (2, 72), "shape")])
def test_another_axis_and_another_shape_are_one(axis: Any, shape: Any, first: str) -> None:
    assert _first(compared_runs(_run(), _run(axis, shape))) == first


def test_a_constant_that_is_computed_with_is_one() -> None:
    """As it is where an op reads its numbers, whether what comes of them agrees or not."""

    def run(number: int) -> Run:
        reads = op("index", "Const", value=np.array(number, np.int32))
        return made_run(reads, op("most", "Maximum", "index", "index", value=np.array(number, np.int32)))

    assert _first(compared_runs(run(-1), run(2))) == "index"
