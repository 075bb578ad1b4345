"""Of which numbers a variance is one, by the axes of its mean: those of a batch norm, of a layer norm, or neither."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import json_of

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.variance_axes import VarianceOf, variance_of


def _ops(shape: tuple[int, ...], axes: list[int]) -> tuple[Op, ...]:
    squares = np.zeros(shape, np.float32)
    return (
        op("x", "Placeholder", value=squares),
        op("centred", "Sub", "x", "x", value=squares),
        op("square", "Square", "centred", value=squares),
        op("axes", "Const", value=np.array(axes, np.int32)),
        op("variance", "Mean", "square", "axes", value=squares.mean(axis=tuple(axes))),
    )


@pytest.mark.parametrize(
    ("shape", "axes", "kind"),
    [
        ((4, 3), [0], VarianceOf.FEATURE),
        ((4, 5, 5, 3), [0, 1, 2], VarianceOf.FEATURE),
        ((4, 3, 5, 5), [0, 2, 3], VarianceOf.FEATURE),
        ((4, 7, 3), [-1], VarianceOf.VECTOR),
        ((4, 7, 3), [2], VarianceOf.VECTOR),
        ((4, 5, 5, 3), [1, 2], VarianceOf.ROW),
        ((4, 5, 5, 3), [1, 2, 3], VarianceOf.ROW),
        ((4, 3), [0, 1], None),
        ((4,), [0], None),
    ],
)
def test_by_the_axes(shape: tuple[int, ...], axes: list[int], kind: VarianceOf | None) -> None:
    run = made_run(*_ops(shape, axes))
    assert variance_of(run.graph.find("variance"), Lineage(run)) is kind


def test_of_what_computes_no_mean_nothing_is_told() -> None:
    run = made_run(op("x", "Placeholder"), op("variance", "Sub", "x", "x"))
    assert variance_of(run.graph.find("variance"), Lineage(run)) is None
    assert variance_of(None, Lineage(run)) is None


def test_axes_that_nobody_saw_tell_nothing() -> None:
    run = made_run(*_ops((4, 3), [1])[:3], op("axes", "Placeholder"), op("variance", "Mean", "square", "axes"))
    assert variance_of(run.graph.find("variance"), Lineage(run)) is None


@pytest.mark.parametrize(
    ("shape", "axes", "said", "helps"),
    [
        ((4, 3), [0], "a feature that is the same in every row", "keras.layers.BatchNormalization"),
        ((4, 3), [-1], "a vector whose features are all the same", "keras.layers.LayerNormalization"),
        ((4, 5, 5, 3), [1, 2], "of numbers that are all the same", "variance + 1e-3)."),
    ],
)
def test_the_cause_says_what_is_the_same(shape: tuple[int, ...], axes: list[int], said: str, helps: str) -> None:
    """A blind test: of a layer norm without epsilon it was a feature that is the same in every row."""
    ops = _ops(shape, axes)
    variance = np.asarray(ops[-1].values[0])
    told = json_of("origin", made_run(*ops, op("root", "Rsqrt", "variance", value=np.full(variance.shape, INF))))
    assert said in str(told["cause"]) and helps in str(told["suggestion"])


@pytest.mark.parametrize(
    ("axes", "helps"), [([-1], "keras.layers.LayerNormalization"), ([0], "keras.layers.Normalization")]
)
def test_so_it_is_of_a_division_by_the_root(axes: list[int], helps: str) -> None:
    """A blind test: of a layer norm by tf.math.reduce_std it was a feature that never changes."""
    ops = _ops((4, 3), axes)
    variance = np.asarray(ops[-1].values[0])
    divided = np.full((4, 3), NAN)
    kept = op("kept", "Reshape", "variance", "shape", value=np.expand_dims(variance, axes[0]))
    root = op("root", "Sqrt", "kept", value=np.asarray(kept.values[0]))
    told = json_of("origin", made_run(*ops, kept, root, op("normed", "RealDiv", "x", "root", value=divided)))
    assert "a deviation of 0" in str(told["cause"]) and helps in str(told["suggestion"])
