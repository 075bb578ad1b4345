"""Watches over real training: the built-in filters, runs kept, variables put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import CaptureRequest, Continue, Decision, GraphChoice, RunUntil
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf


@pytest.fixture
def tf() -> Any:
    import tensorflow as tf

    return tf


class Training:
    """A network of one hidden layer, trained by hand; `frozen` is written and never changed."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        self.first = tf.Variable(tf.ones([3, 4]) * 0.1, name="first")
        self.second = tf.Variable(tf.ones([4, 1]) * 0.1, name="second")
        self.frozen = tf.Variable(tf.ones([2]), name="frozen")
        self.step = tf.function(self._step)

    def _step(self, x: Any, rate: Any) -> Any:
        tf = self.tf
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, self.first), name="hidden")
            loss = tf.reduce_sum(tf.matmul(hidden, self.second))
        gradients = tape.gradient(loss, [self.first, self.second])
        for variable, gradient in zip((self.first, self.second), gradients, strict=True):
            variable.assign_sub(rate * gradient)
        self.frozen.assign_add(tf.zeros([2]))
        return loss


def _watch(tf: Any, front: ScriptedFrontend, decision: RunUntil | Decision, batches: list[Any]) -> list[RunEnd]:
    """Train on `batches`, pairs of what every x is and the learning rate, under a watch; the stops at ends."""
    training = Training(tf)
    front.script = [decision, Continue()]
    with tf_debug.debugging():
        for x, rate in batches:
            training.step(tf.fill([5, 3], np.float32(x)), tf.constant(np.float32(rate)))
    return front.ends


@pytest.mark.parametrize(
    ("name", "bad", "node"),
    [
        ("magnitude_above:50", (900.0, 0.0), "MatMul"),
        ("near_overflow", (3e38, 0.0), None),
        ("vanishing_gradient", (0.0, 0.01), "gradient_tape"),
        ("exploding_gradient:2000", (900.0, 0.01), "gradient_tape"),
        ("dead_relu", (-1.0, 0.0), "hidden"),
        ("unchanged_variable", (0.0, 0.0), None),
        ("all_zero", (0.0, 0.01), None),
    ],
)
def test_a_filter_stops_at_the_run_that_it_is_about(tf, front, name, bad, node) -> None:
    good = (1.0, 0.01)
    exclude = "frozen|Identity|zeros" if name in ("unchanged_variable", "all_zero") else ""
    (end,) = _watch(tf, front, RunUntil(name, exclude), [good, good, bad, good])
    assert end.run.call.number == 3
    from tfdbg_cli.analysis.watch.datum import datum_of
    from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named

    if node is not None:
        asked, store = filter_named(BUILT_IN_FILTERS, name), end.run.tensors
        found = [store[i].node for i in range(len(store)) if asked(datum_of(end.run, i), store.value(i))]
        assert any(node in each for each in found), found


def test_a_variable_that_is_written_and_never_changes(tf, front) -> None:
    (end,) = _watch(tf, front, RunUntil("unchanged_variable"), [(1.0, 0.01)] * 3)
    assert end.run.call.number <= 2


@pytest.mark.parametrize("decision", [RunUntil("has_inf_or_nan", keep=2), RunUntil("has_nan", keep=2)])
def test_the_runs_before_the_hit_have_their_values(tf, front, decision) -> None:
    held: list[Any] = []

    def look(event: Any) -> Decision:
        held.extend(run.tensors.value(run.tensors.named("hidden")[0]) for run in (*event.earlier, event.run))
        return Continue()

    training = Training(tf)
    front.script = [decision, look]
    with tf_debug.debugging():
        for x in (1.0, 2.0, 3.0, np.nan):
            training.step(tf.constant(np.full([5, 3], x, np.float32)), tf.constant(0.0))
    assert [value[0, 0] for value in held][:2] == pytest.approx([0.6, 0.9])
    assert np.isnan(held[2]).all()


def test_skip_update_leaves_the_variables_as_before_the_bad_run(tf, front) -> None:
    training = Training(tf)
    front.script = [RunUntil("has_inf_or_nan", skip_update=True), Continue()]
    one, rate = tf.ones([5, 3]), tf.constant(0.01)
    with tf_debug.debugging():
        training.step(one, rate)
        before = training.first.numpy()
        training.step(tf.constant(np.full([5, 3], np.nan, np.float32)), rate)
        after = training.first.numpy()
        training.step(one, rate)
    (end,) = front.ends
    assert end.notes[0] == "The variables are as before this run."
    np.testing.assert_array_equal(after, before)
    assert np.isfinite(training.first.numpy()).all()


def test_a_watch_in_the_program_takes_the_same_wishes(tf, front, tmp_path) -> None:
    training = Training(tf)
    rate = tf.constant(0.01)
    with tf_debug.debugging():
        tf_debug.set_watch("has_inf_or_nan", keep=1, bundle=tmp_path / "case", skip_update=True)
        for x in (1.0, 1.0, np.nan):
            training.step(tf.constant(np.full([5, 3], x, np.float32)), rate)
    (end,) = front.ends
    assert [run.call.number for run in end.earlier] == [2]
    assert (tmp_path / "case").is_dir()
    assert np.isfinite(training.first.numpy()).all()


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"keep": -1}, "cannot be kept"),
        ({"keep": 2, "values": "replay"}, "replay keeps none"),
        ({"values": "somehow"}, "no way"),
        ({"bundle": __file__}, "is there already"),
        ({"exclude_node_names": "["}, "not a regular expression"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(front, wishes: dict[str, Any], words: str) -> None:
    calls: list[Callable[..., Any]] = [
        tf_debug.set_watch,
        lambda name, **rest: tf_debug.DebuggerCallback(None, name, **rest),
    ]
    for call in calls:
        with pytest.raises(tf_debug.TfdbgError, match=words):
            call("has_inf_or_nan", **wishes)
    tf_debug.disable()


def test_runs_that_were_dumped_to_files_stay_when_the_files_are_gone(tf, front) -> None:
    v1 = tf.compat.v1
    held: list[Any] = []

    def look(event: Any) -> Decision:
        held.extend(run.tensors.value(run.tensors.named("y")[0]) for run in event.earlier)
        return Continue()

    with tf.Graph().as_default(), v1.Session() as session, tf_debug.debugging():
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.math.log(x, name="y")
        front.script = [
            RunUntil("magnitude_above:5", capture=CaptureRequest(graph=GraphChoice.RUNTIME), keep=2),
            look,
        ]
        for value in (1.0, 2.0, 3.0, 1e9):
            session.run(y, {x: [value, 1.0]})
    assert [float(value[0]) for value in held] == pytest.approx(np.log([2.0, 3.0]))


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("dead_relu", "first"),
        ("exploding_gradient:1e4", "gradient_tape"),
        ("vanishing_gradient", "gradient_tape"),
        ("unchanged_variable", "after_update"),
        ("magnitude_above:1e4", "second"),
    ],
)
def test_a_keras_fit_stops_at_the_step_at_which_it_goes_wrong(tf, front, name, node) -> None:
    from tfdbg_cli.analysis.watch.datum import datum_of
    from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named

    keras = tf.keras
    keras.utils.set_random_seed(1)
    x = np.random.RandomState(0).normal(size=(256, 8)).astype(np.float32)
    first, second = (keras.layers.Dense(8, activation="relu", name=each) for each in ("first", "second"))
    model = keras.Sequential([keras.Input((8,)), first, second, keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")

    def spoil() -> None:
        match name.partition(":")[0]:
            case "dead_relu":
                first.bias.assign(tf.fill([8], -1000.0))
            case "exploding_gradient":
                model.layers[-1].kernel.assign(model.layers[-1].kernel * 1e4)
            case "vanishing_gradient":
                for layer in model.layers:
                    layer.kernel.assign(layer.kernel * 0.0)
            case "unchanged_variable":
                model.optimizer.learning_rate.assign(0.0)
            case "magnitude_above":
                second.kernel.assign(second.kernel * 1e5)

    at_sixth = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: spoil() if batch == 5 else None
    )
    front.script = [RunUntil(name), Continue()]
    with tf_debug.debugging():
        model.fit(x, x.sum(1, keepdims=True), batch_size=32, verbose=0, shuffle=False, callbacks=[at_sixth])
    (end,) = front.ends
    assert end.hit is not None
    assert end.hit.runs == 6
    assert any("checked inside TensorFlow" in note for note in end.run.notes)
    asked, store = filter_named(BUILT_IN_FILTERS, name), end.run.tensors
    found = [store[i].node for i in range(len(store)) if asked(datum_of(end.run, i), store.value(i))]
    assert any(node in each for each in found), found


def test_a_norm_at_its_limit_is_no_hit_and_the_training_goes_on(tf, front) -> None:
    variable = tf.Variable([3.0, 4.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * x)
        variable.assign_sub(0.0 * tape.gradient(loss, variable))
        return loss

    front.script = [RunUntil("exploding_gradient:5"), Continue()]
    with tf_debug.debugging():
        for last in (4.0, 4.0, 4.0, 4.001):  # norms of 5, and beyond
            step(tf.constant([3.0, last]))
    (end,) = front.ends
    assert end.hit is not None
    assert end.hit.runs == 4


def test_a_relu_of_unknown_width_is_asked_of_values_and_the_run_says_so(tf, front) -> None:
    step = tf.function(tf.nn.relu, input_signature=[tf.TensorSpec([None, None])], autograph=False)
    front.script = [RunUntil("dead_relu"), Continue()]
    with tf_debug.debugging():
        for x in (1.0, 2.0, -1.0):
            step(tf.fill([2, 3], x))
    (end,) = front.ends
    assert end.hit is not None
    assert end.hit.runs == 3
    assert any("could not be asked inside TensorFlow" in note for note in end.run.notes)


def test_a_number_that_python_gives_to_a_loss_is_no_target(front: ScriptedFrontend, tf: Any) -> None:
    """As an advantage of one episode, whose deviation is 0: nothing that is fed, and no row of it."""
    weight = tf.Variable(2.0)

    def program() -> None:
        for turn in range(3):
            with tf.GradientTape() as tape:
                loss = tf.square((float("nan") if turn == 2 else 1.0) - weight * 3.0)
            weight.assign_sub(0.01 * tape.gradient(loss, weight))

    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        program()
    found = Prompt(front.ends[0]).data("origin")
    assert found["cause"].startswith("Already in the number ") and "which Python gave" in found["cause"]
