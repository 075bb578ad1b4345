"""Statistics inside functions whose tensors have other shapes than TensorFlow says: they end no program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.recorded_steps import recorded

from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.tensors import summary_of

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front")]

_SAME = ("size", "nan", "zero", "neg", "pos", "min", "max", "mean")


def _told(run: Run, values: dict[str, Any]) -> None:
    """Check the statistics of tensors by the names of their nodes."""
    for node, value in values.items():
        told, expected = summary_of(run.tensors, run.tensors.named(node)[0]), summarize(np.asarray(value))
        assert told is not None, node
        assert [getattr(told, name) for name in _SAME] == pytest.approx([getattr(expected, name) for name in _SAME])


_VECTORLESS: dict[str, Callable[[Any, Any], Any]] = {
    "SelfAdjointEigV2": lambda tf, a: tf.raw_ops.SelfAdjointEigV2(input=a, compute_v=False, name="op"),
    "Eig": lambda tf, a: tf.raw_ops.Eig(input=a, Tout=tf.complex64, compute_v=False, name="op"),
    "Svd": lambda tf, a: tf.raw_ops.Svd(input=a, compute_uv=False, name="op"),
    "Svd, full": lambda tf, a: tf.raw_ops.Svd(input=a, compute_uv=False, full_matrices=True, name="op"),
    "FusedBatchNorm": lambda tf, a: tf.compat.v1.nn.fused_batch_norm(
        tf.reshape(a, [1, -1, 3, 1]), [1.0], [0.0], name="op"
    ),
}


@pytest.mark.parametrize("op", list(_VECTORLESS))
@pytest.mark.parametrize("batch", [(), (2,), (300,)])
def test_outputs_that_no_kernel_makes(tmp_path: Path, op: str, batch: tuple[int, ...]) -> None:
    import tensorflow as tf

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        made = _VECTORLESS[op](tf, x)
        return made[0] * 2, x + 1

    given = tf.constant(np.random.default_rng(0).standard_normal((*batch, 3, 3)), tf.float32)
    plain = step(given)
    got: list[Any] = []
    (run,) = recorded(tmp_path / "r", lambda: got.append(step(given)), stats_only=True)
    assert run.error is None
    np.testing.assert_array_equal(got[0][0], plain[0])
    _told(run, {"add": plain[1]})


def test_eigenvalues_singular_values_and_norms(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        both = tf.linalg.eigvalsh(x + tf.transpose(x)), tf.linalg.eigvals(x)
        return *both, tf.norm(x, ord=2, axis=[0, 1]), tf.linalg.svd(x, compute_uv=False), tf.linalg.matrix_rank(x)

    matrix = tf.constant(np.random.default_rng(0).standard_normal((5, 5)), tf.float32)
    (run,) = recorded(tmp_path / "r", lambda: step(matrix), stats_only=True)
    assert run.error is None


def test_a_top_k_whose_kernel_does_not_do_as_it_says(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        top = tf.raw_ops.ApproxTopK(input=x, k=1, aggregate_to_topk=False, name="top")
        return top[0] * 2, x + 1

    x = tf.constant(np.random.default_rng(0).standard_normal((3, 3)), tf.float32)
    (run,) = recorded(tmp_path / "r", lambda: step(x), stats_only=True)
    assert run.error is None
    _told(run, {"add": x + 1, "mul": step(x)[0]})


_SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, 20, 300]), max_size=3).map(tuple)


@settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(said=_SHAPES, real=_SHAPES)
def test_a_program_may_declare_any_shape(tmp_path: Path, said: tuple[int, ...], real: tuple[int, ...]) -> None:
    import tensorflow as tf

    if np.prod(real) > 10_000 or np.prod(said) > 10_000:
        return
    value = np.arange(np.prod(real), dtype=np.float32).reshape(real)

    @tf.function(autograph=False)
    def inner(y: Any) -> Any:
        return tf.negative(y, name="turned")

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        y = tf.numpy_function(lambda _: value, [x], tf.float32, name="made")
        y.set_shape(said)
        either = tf.cond(x > 0, lambda: y + 1, lambda: y)
        total = tf.reduce_sum(tf.reshape(y, [-1]), name="whole")
        return tf.multiply(y, 2, name="double"), inner(y), tf.identity(either * 3, name="thrice"), total, x + 1

    (run, *_) = recorded(tmp_path / f"{said}{real}", lambda: step(tf.constant(1.0)), stats_only=True)
    assert run.error is None
    _told(run, {"made": value, "double": value * 2, "thrice": (value + 1) * 3, "whole": value.sum(), "add": 2.0})


def test_shapes_are_inferred_whatever_kinds_of_functions_are_called(tmp_path: Path, capsys) -> None:
    import tensorflow as tf
    from support.function_kinds import EVERY

    x = tf.constant([0.5, 1.0, 2.0, 4.0])
    for number, call in enumerate(EVERY.values()):
        step = tf.function(lambda x, call=call: call(x) + tf.reduce_sum(x * 2.0), autograph=False)
        (run, *_) = recorded(tmp_path / str(number), lambda step=step: step(x), stats_only=True)
        assert run.error is None
    assert "could not" not in capsys.readouterr().err


def test_ops_of_a_loop_that_stand_beside_ops_of_another_function(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the gradient of a table that the forward loop has looks up was told as a failure of tfdbg's."""
    import tensorflow as tf

    weights = tf.Variable(tf.ones([4, 4]))

    @tf.function
    def step(x: Any, kept: Any) -> Any:
        with tf.GradientTape() as tape:
            total = tf.constant(0.0)
            for turn in tf.range(3):
                total += tf.reduce_sum(tf.boolean_mask(x[turn] @ weights, kept[turn]))
        weights.assign_sub(0.01 * tape.gradient(total, weights))
        return total

    given = tf.ones([3, 5, 4]), tf.eye(3, 5) > 0
    (run,) = recorded(tmp_path / "r", lambda: step(*given), stats_only=True)
    assert run.error is None
    assert "could not" not in capfd.readouterr().err
