"""A watch that goes on past what does no harm, and stops at what does: programs that use NaN and infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.libraries import library
from support.prompt import json_of

from tfdbg_cli.model.decision import Continue, Detach, OnBenign, RunUntil, Values
from tfdbg_cli.model.ignored import IgnoredPlace

pytestmark = pytest.mark.tf
SKIP = RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)
KEEP = RunUntil("has_inf_or_nan", benign=OnBenign.SKIP, values=Values.KEEP)
STOP = RunUntil("has_inf_or_nan")


def _course(watched: Any, program: Callable[[], None], *script: Any) -> Any:
    with watched(*script) as front:
        program()
    return front


def _stops_at_once_without(watched: Any, program: Callable[[], None]) -> None:
    """Make sure that the program has something that a plain watch stops at."""
    assert _course(watched, program, STOP, Detach()).ends


def _passes(watched: Any, program: Callable[[], None]) -> list[str]:
    """Make sure that the watch goes on past `program` to its end; what it said."""
    _stops_at_once_without(watched, program)
    front = _course(watched, program, SKIP, Detach())
    assert not front.ends, front.ends[0].notes
    assert any("The watch goes on." in text for text in front.said)
    return list(front.said)


def test_an_attention_mask(watched) -> None:
    @tf.function
    def attend(q: Any, k: Any, v: Any, kept: Any) -> Any:
        scores = tf.matmul(q, k, transpose_b=True) + tf.where(kept, 0.0, -np.inf)
        return tf.nn.softmax(scores) @ v

    x = tf.random.stateless_normal([4, 3], [1, 2])
    kept = tf.linalg.band_part(tf.ones([4, 4], tf.bool), -1, 0)
    (said, *others) = _passes(watched, lambda: [attend(x, x, x, kept) for _ in range(3)] and None)
    assert "ignored 1 place: -inf made on purpose at test_benign_watch.py:" in said
    assert not others, "once"


def test_the_exponential_of_a_matrix(watched) -> None:
    step = tf.function(lambda x: tf.linalg.expm(x), autograph=False)
    _passes(watched, lambda: [step(tf.eye(3) * scale) for scale in (0.1, 2.0)] and None)


def test_a_recomputed_gradient(watched) -> None:
    weight = tf.Variable([1.0, 2.0])

    @tf.recompute_grad
    def body(x: Any) -> Any:
        return tf.where(x > 0.5, tf.math.log(tf.maximum(x, 0.0)) * weight, 0.0)

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(body(x))
        gradient = tape.gradient(loss, weight)
        gradient = tf.where(tf.math.is_finite(gradient), gradient, 0.0)
        weight.assign_sub(0.1 * gradient)
        return loss

    _passes(watched, lambda: [step(tf.constant([0.0, 2.0])) for _ in range(3)] and None)


def test_infinities_that_nothing_uses(watched) -> None:
    @tf.function
    def step(x: Any) -> Any:
        unused = [tf.math.log(x * float(number)) for number in range(30)]
        shapes = [tf.size(one) for one in unused]
        with tf.control_dependencies(unused):
            return tf.reduce_sum(x) + 0.0 * tf.cast(tf.add_n(shapes), tf.float32)

    (said,) = _passes(watched, lambda: [step(tf.constant([0.0, 2.0])) for _ in range(3)] and None)
    assert "-inf of which nothing comes at test_benign_watch.py:" in said


def test_a_nan_that_a_select_swallows(watched) -> None:
    @tf.function
    def step(x: Any) -> Any:
        x = tf.cast(x, tf.float16)
        root = tf.sqrt(x) * tf.constant(3.0, tf.float16)
        return tf.where(x >= 0.0, root + tf.exp(root), tf.zeros_like(x))

    (said,) = _passes(watched, lambda: [step(tf.constant([-1.0, 2.0])) for _ in range(3)] and None)
    assert "NaN" in said


@pytest.mark.parametrize("decision", [SKIP, KEEP], ids=["replay", "keep"])
def test_what_does_harm_later_stops(watched, decision) -> None:
    variable = tf.Variable([0.0, 0.0])

    @tf.function
    def step(x: Any, bad: Any) -> Any:
        safe = tf.where(x > 0, tf.math.log(x), 0.0)
        late = tf.math.log(bad)
        variable.assign_add(safe + late)
        return tf.reduce_sum(safe)

    def program() -> None:
        for number in range(6):
            step(tf.constant([0.0, 2.0]), tf.constant(5.0 - number))

    front = _course(watched, program, decision, Detach())
    (end,) = front.ends
    assert end.run.call.number == 6
    assert end.hit.last_passed == 5
    assert "The watch stopped here, since harm was done: the variable Variable is not finite after its update." in (
        end.notes
    )
    (place,) = end.ignored
    assert isinstance(place, IgnoredPlace)
    assert (place.run, place.function, place.holds, place.intended) == (1, "step", "-inf", True)
    assert place.nodes == ("Log",) and place.file.endswith("test_benign_watch.py") and place.line


def test_harm_in_the_same_run_stops_at_once(watched) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.where(x > 0, tf.math.log(x), 0.0), tf.math.log(x - 2.0)

    front = _course(watched, lambda: step(tf.constant([0.0, 2.0])) and None, SKIP, Detach())
    assert len(front.ends) == 1 and not front.ends[0].ignored


def test_the_same_node_of_another_function_still_counts(watched) -> None:
    safe = tf.function(lambda x: tf.where(x > 0, tf.math.log(x), 0.0))
    bare = tf.function(lambda x: tf.math.log(x))

    def program() -> None:
        for _ in range(2):
            safe(tf.constant([0.0, 2.0]))
        bare(tf.constant([0.0, 2.0]))

    front = _course(watched, program, SKIP, Detach())
    (end,) = front.ends
    assert end.run.call.number == 3


@pytest.mark.parametrize(
    "hidden",
    [
        lambda y: tf.cast(y > 1.0, tf.float32),
        lambda y: tf.cast(tf.cast(y, tf.int32), tf.float32),
        lambda y: tf.cast(tf.argmax(y), tf.float32) + tf.zeros([2]),
        lambda y: tf.where(y < 3.0, 1.0, 2.0),
    ],
    ids=["compared", "made an integer", "the largest", "chosen by"],
)
def test_a_number_made_of_nan_is_harm(watched, hidden) -> None:
    step = tf.function(lambda x: tf.reduce_sum(hidden(tf.math.log(x))), autograph=False)
    front = _course(watched, lambda: step(tf.constant([1.0, -2.0])) and None, SKIP, Detach())
    (end,) = front.ends
    assert any("makes a number out of NaN" in note for note in end.notes)


def test_how_long_a_loop_runs_is_harmed_by_nan(watched) -> None:
    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        cond = lambda i: tf.math.log(x) + tf.cast(i, tf.float32) < 3.0  # noqa: E731
        return tf.while_loop(cond, lambda i: (i + 1,), [tf.constant(0)], maximum_iterations=5)

    front = _course(watched, lambda: step(tf.constant(-1.0)) and None, SKIP, Detach())
    assert len(front.ends) == 1


def test_to_ask_for_nan_is_none(watched) -> None:
    @tf.function
    def step(x: Any) -> Any:
        y = tf.math.log(x)
        return tf.where(tf.math.is_nan(y) | (y != y), 0.0, y)

    _passes(watched, lambda: [step(tf.constant([-1.0, 2.0])) for _ in range(2)] and None)


def test_a_watch_without_it_stops_and_counts_all_again(watched) -> None:
    step = tf.function(lambda x: tf.where(x > 0, tf.math.log(x), 0.0))

    def program() -> None:
        for _ in range(4):
            step(tf.constant([0.0, 2.0]))
        step(tf.constant([np.nan, 2.0]))
        step(tf.constant([0.0, 2.0]))
        step(tf.constant([0.0, 2.0]))

    front = _course(watched, program, SKIP, lambda end: STOP, Detach())
    assert [end.run.call.number for end in front.ends] == [5, 6], "a comparison with NaN, then the logarithm again"


def test_loss_scaling_in_half_precision(watched) -> None:
    """The scale is too large at first: gradients are infinite, and the updates are left out."""
    keras = library("tf_keras")
    keras.utils.set_random_seed(1)
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = keras.Sequential(
            [keras.layers.Input((4,)), keras.layers.Dense(4), keras.layers.Dense(1, dtype="float32")]
        )
        scaled = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.01), initial_scale=2.0**40)
        model.compile(scaled, "mse")
        x = np.random.default_rng(0).random((32, 4)).astype(np.float32)
        y = x.sum(axis=1)

        def program() -> None:
            model.fit(x, y, batch_size=4, verbose=0, shuffle=False)

        front = _course(watched, program, SKIP, Detach())
        assert not front.ends, front.ends[0].notes
        assert any("goes on" in text for text in front.said)
        y[20] = np.nan
        front = _course(watched, program, SKIP, Detach())
        assert len(front.ends) == 1
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_a_branch_that_was_not_taken_makes_no_number_of_nan(watched) -> None:
    """As the update that loss scaling leaves out, which casts a float16 gradient."""
    weight = tf.Variable(1.0)

    def program() -> None:
        @tf.function
        def step(x: Any) -> None:
            gradient = tf.cast(tf.math.log(x), tf.float16)

            def update() -> Any:
                weight.assign_sub(tf.cast(gradient, tf.float32))
                return tf.constant(True)

            tf.cond(tf.math.is_finite(gradient), update, lambda: tf.constant(False))

        for x in (1.0, -1.0, 2.0):
            step(tf.constant(x))

    front = _course(watched, program, SKIP, Detach())
    assert not front.ends, front.ends[0].notes
    assert np.isfinite(weight.numpy())


def test_a_session_goes_on_too(tf: Any, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.placeholder(tf.float32, [2], name="y")
    v = tf.get_variable("v", initializer=np.zeros(2, np.float32), use_resource=True)
    safe = tf.where(x > 0, tf.log(x), tf.zeros_like(x))
    train = v.assign_add(safe + tf.log(y), read_value=False)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, SKIP, Detach())
        for number in range(5):
            session.run([safe, train], {x: [0.0, 2.0], y: [3.0 - number, 1.0]})
    (end,) = front.ends
    assert end.hit.runs == 4 and end.hit.last_passed == 3
    (place,) = end.ignored
    assert (place.function, place.nodes) == ("", ("Log",))


def test_runs_that_did_not_read_a_variable_say_nothing_of_it(tf: Any, debugged, graph) -> None:
    w = tf.get_variable("w", initializer=tf.log(tf.constant([0.0, 1.0])), use_resource=True)
    x = tf.placeholder(tf.float32, [2], name="x")
    y, spoiled = tf.reduce_sum(x), tf.reduce_sum(w)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, SKIP, Detach())
        for _ in range(2):
            session.run(y, {x: [1.0, 2.0]})
        session.run(spoiled)
    (end,) = front.ends
    assert end.hit.last_passed is None and end.hit.others_passed
    data = json_of("origin", end)
    assert data["cause"].startswith("Variable w was already not finite") and data["since"] is None


def test_what_cannot_be_told_stops(watched) -> None:
    """Values that memory was too small for."""
    from tfdbg_cli.config.settings import Settings

    @tf.function
    def step(x: Any) -> Any:
        return tf.where(x > 0, tf.math.log(x), 0.0)

    with watched(SKIP, Continue(), settings=Settings(memory_budget=1 << 20)) as front:
        step(tf.zeros([1 << 20]))
    (end,) = front.ends
    assert not len(end.run.tensors)
    assert any("values of the run are missing" in note for note in end.notes)
