"""What `tf.where` throws away is told by the text of the program; all else is stopped at, at the op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import OnBenign, RunUntil

pytestmark = pytest.mark.tf


def _in_arguments(w: Any) -> Any:
    return tf.where(w > 0, tf.math.log(w), 0.0)


def _by_keyword(w: Any) -> Any:
    return tf.where(condition=w <= 0, x=tf.zeros_like(w), y=tf.math.log(w) * 2.0 + 1.0)


def _by_name(w: Any) -> Any:
    logs = tf.math.log(w)
    return tf.where(w > 0, logs, tf.zeros_like(w))


def _by_a_function(w: Any) -> Any:
    def half(x: Any) -> Any:
        root = tf.sqrt(x)
        return root / x

    return tf.where(w > 0, half(w), 0.0)


def _by_a_lambda(w: Any) -> Any:
    return (lambda f: tf.where(w > 0, f(w), 0.0))(lambda x: tf.math.log(x))


def _one_of_several(w: Any) -> Any:
    return tf.add_n([tf.where(w > 0, tf.math.log(w) / scale, 0.0) for scale in (1.0, 2.0)])


def _over_lines(w: Any) -> Any:
    return tf.where(
        w > 0,
        tf.math
        .log(w),
        0.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "chooses",
    [_in_arguments, _by_keyword, _by_name, _by_a_function, _by_a_lambda, _one_of_several, _over_lines],
    ids=lambda each: each.__name__.strip("_"),
)
def test_what_a_choice_throws_away_is_told_of_once(chooses) -> None:
    w = tf.Variable([2.0, 0.0, -1.0])

    def step() -> None:
        w.assign_sub(0.1 * tf.ones(3) * tf.reduce_sum(chooses(w)))

    front = _watched(step)
    assert not front.ends
    (said,) = [sentence for sentence in front.said if "ignored" in sentence]
    assert "test_choices.py:" in said and said.endswith("The watch goes on.")


def _lets_it_through(w: Any) -> Any:
    return tf.where(w >= 0, tf.math.log(w), 0.0)


def _used_elsewhere(w: Any) -> Any:
    logs = tf.math.log(w)
    return tf.where(w > 0, logs, 0.0) + tf.reduce_sum(logs)


def _chosen_by(w: Any) -> Any:
    return tf.where(tf.math.log(w) > 0.5, 1.0, 0.0)


def _no_choice(w: Any) -> Any:
    return tf.math.log(w)


def _a_choice_beside(w: Any) -> Any:
    chosen = tf.where(w > 0, w, 1.0)
    return tf.math.log(chosen) + tf.math.log(w)


def _a_choice_of_numpy(w: Any) -> Any:
    import numpy as np

    return tf.constant(np.where(w > 0, tf.math.log(w), 0.0))


@pytest.mark.parametrize(
    ("spoils", "at"),
    [
        (_lets_it_through, "SelectV2"),
        (_used_elsewhere, "Sum"),
        (_chosen_by, "Log"),
        (_no_choice, "Log"),
        (_a_choice_beside, "Log"),
        (_a_choice_of_numpy, "Log"),
    ],
    ids=lambda each: getattr(each, "__name__", each).strip("_"),
)
def test_what_is_not_thrown_away_is_stopped_at_where_it_shows(spoils, at) -> None:
    w = tf.Variable([2.0, 0.0, 1.0])
    front = _watched(lambda: w.assign_add(spoils(w)), times=1)
    assert _last_op(front) == at


def test_what_comes_back_through_the_gradient_of_a_choice_is_stopped_at() -> None:
    w = tf.Variable([2.0, 0.0, 1.0])

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.where(w > 0, tf.math.log(w), 0.0))
        slope = tape.gradient(loss, w)
        w.assign_sub(0.1 * tf.where(tf.math.is_nan(slope), 0.0, slope))

    front = _watched(step)
    assert _last_op(front) == "Reciprocal"


def test_a_number_that_python_may_have_got_counts_at_the_end_of_the_run() -> None:
    w = tf.Variable([2.0, 0.0])

    def step() -> None:
        logs = tf.math.log(w)
        if w.shape[0] > 2:
            logs = tf.where(w > 0, logs, 0.0)
        w.assign_add(tf.zeros(2))

    front = _watched(step, times=1)
    (end,) = front.ends
    assert any("harm cannot be ruled out: no op of the run reads Log_0:0" in note for note in end.notes)


def test_a_watch_that_asks_for_all_of_it_stops_at_the_op() -> None:
    w = tf.Variable([2.0, 0.0])
    front = _watched(lambda: w.assign_add(_in_arguments(w)), times=1, benign=OnBenign.STOP)
    assert _last_op(front) == "Log"


def _watched(step: Callable[[], Any], *, times: int = 3, benign: OnBenign = OnBenign.SKIP) -> ScriptedFrontend:
    """The front end of a watch that saw `step` run some times, and went on behind every stop."""
    decision = RunUntil("has_inf_or_nan", benign=benign)
    front = ScriptedFrontend(*[decision] * 20)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    try:
        for _ in range(times):
            step()
        watch.end()
    finally:
        debugger.attendant = None
        watch.attend(False)
    return front


def _last_op(front: ScriptedFrontend) -> str:
    """The type of the op behind which the program stood at the first stop."""
    return list(front.ends[0].run.graph)[-1].op_type
