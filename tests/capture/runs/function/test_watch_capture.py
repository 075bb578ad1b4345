"""Functions watched by the debugger: the run that went bad is shown with all its values, and the program goes on."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.functions.calling.kept_tensors import NO_TENSORS
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.function.watched_calls import CopiedWatchedCall
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import CaptureRequest, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay
from tfdbg_cli.model.runs import Run

pytestmark = pytest.mark.tf

_WAYS = [Values.AUTO, Values.KEEP, Values.REPLAY]


@contextmanager
def _watching(settings: Settings | None = None, **options: Any) -> Iterator[ScriptedFrontend]:
    frontend = ScriptedFrontend(RunUntil("has_inf_or_nan", **options), settings=settings)
    undo = intercept_all_functions(Debugger(lambda: frontend, settings=settings))
    try:
        yield frontend
    finally:
        undo()


def _value(run: Run, name: str) -> Any:
    node, slot = name.split(":")
    return run.tensors.value(run.tensors.named(node, int(slot))[-1])


def _bad(run: Run) -> list[str]:
    rows = range(len(run.tensors))
    values = [(str(run.tensors[row].name), run.tensors.value(row)) for row in rows]
    return [name for name, value in values if value.dtype.kind == "f" and not np.isfinite(value).all()]


@pytest.mark.parametrize("values", _WAYS)
def test_the_run_that_went_bad_is_shown_with_its_values(values: Values) -> None:
    weight = tf.Variable([1.0, 2.0], name="weight")

    @tf.function
    def step(x: Any) -> Any:
        loss = tf.reduce_sum(tf.sqrt(x * weight))
        weight.assign_sub(0.5 * tf.ones([2]) * loss)
        return loss

    with _watching(values=values) as frontend:
        assert step(tf.constant(1.0)).numpy() == pytest.approx(1 + np.sqrt(2))
        before = weight.numpy()
        assert np.isnan(step(tf.constant(1.0)).numpy())
    (end,) = frontend.ends
    run = end.run
    assert end.hit is not None
    assert end.hit.runs == 2
    assert run.caught
    assert np.isnan(weight.numpy()).all()
    np.testing.assert_array_equal(_value(run, "mul:0"), before)
    assert _bad(run)[0] == "Sqrt:0"
    updated = [name for name in _bad(run) if "after_update" in name]
    assert len(updated) == 1
    node = run.graph.node(updated[0].split(":")[0])
    assert node.op_type == "UpdatedVariable"
    assert any(run.graph.find(name.node) is not None for name in node.inputs)
    assert any("checks stand for" in note for note in run.notes)
    assert any("made once more" in note for note in run.notes) is (values is not Values.KEEP)


@pytest.mark.parametrize("values", _WAYS)
def test_a_bad_update_of_a_variable_is_caught_in_the_run_that_makes_it(values: Values) -> None:
    total = tf.Variable(3e38)

    @tf.function
    def add(x: Any) -> None:
        total.assign_add(x)

    with _watching(values=values) as frontend:
        add(tf.constant(1.0))
        add(tf.constant(1e38))
    (end,) = frontend.ends
    assert [name.rpartition("/")[2] for name in _bad(end.run)] == ["after_update:0"]


@pytest.mark.parametrize("values", _WAYS)
def test_what_was_drawn_stands_behind_what_it_was_drawn_of(values: Values) -> None:
    """It is held for the run that is made again, which gets it as it gets its arguments."""

    @tf.function
    def step(x: Any) -> Any:
        other = tf.math.log(x)
        drawn = tf.random.poisson([2], tf.exp(x))
        return other + tf.reduce_sum(tf.sqrt(drawn))

    with _watching(values=values) as frontend:
        step(tf.constant(0.0))
    (end,) = frontend.ends
    nodes = [end.run.tensors[row].node for row in range(len(end.run.tensors))]
    (drawing,) = (node.name for node in end.run.graph if node.op_type == "RandomPoissonV2")
    for node in end.run.graph:
        shown = [need for need in node.needs if need in nodes]
        assert node.name not in nodes or all(nodes.index(need) < nodes.index(node.name) for need in shown), node
    assert nodes.index("Log") < nodes.index("Exp") < nodes.index(drawing) < nodes.index("Sqrt")


def test_values_are_kept_where_the_run_cannot_be_made_again() -> None:
    @tf.function
    def step(x: Any) -> Any:
        for _ in tf.range(2):
            x = tf.math.log(
                tf.ensure_shape(tf.numpy_function(lambda value: value - np.float32(1), [x], tf.float32), [])
            )
        return x

    with _watching() as frontend:
        step(tf.constant(20.0))
        step(tf.constant(1.0))
    (end,) = frontend.ends
    assert any("cannot be made again" in note for note in end.run.notes), end.run.notes
    assert _bad(end.run)[0].endswith("Log:0")


def test_a_hit_without_room_for_values_is_a_hit() -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.math.log(x)

    with _watching(Settings(memory_budget=2000)) as frontend:
        step(tf.ones([1000]))
        step(tf.zeros([1000]))
    (end,) = frontend.ends
    assert end.hit is not None
    assert not len(end.run.tensors)
    assert any("memory_budget" in note for note in end.run.notes), end.run.notes


def test_a_hit_that_can_neither_be_made_again_nor_kept_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def step(x: Any) -> Any:
        for _ in tf.range(2):  # what Python answers in a loop is not held
            x = tf.ensure_shape(tf.numpy_function(lambda value: value - np.float32(1), [x], tf.float32), [])
        return tf.math.log(x + tf.zeros([1000]))

    with _watching(Settings(memory_budget=2000)) as frontend:
        step(tf.constant(20.0))
        step(tf.constant(1.0))
    (end,) = frontend.ends
    assert end.hit is not None
    assert end.hit.runs == 2
    assert not len(end.run.tensors)
    (reason,) = (note for note in end.run.notes if "cannot be made again" in note)
    assert "PyFunc" in reason
    assert sum("memory_budget" in note for note in end.run.notes) == 1, end.run.notes
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("values", _WAYS)
def test_an_error_of_an_op_is_shown_and_raised(values: Values) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.debugging.check_numerics(tf.math.log(x), "here") * 2

    with _watching(values=values) as frontend:
        step(tf.constant(1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="here"):
            step(tf.constant(0.0))
    (end,) = frontend.ends
    assert end.run.error is not None
    assert end.run.error.type_name == "InvalidArgumentError"


@pytest.mark.parametrize("values", _WAYS)
def test_excluded_and_unwanted_tensors_are_not_looked_at(values: Values) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.nn.relu(tf.identity(tf.math.log(x, name="harmless"), name="harmless_copy"), name="last")

    with _watching(values=values, exclude_node_names="harmless|x") as frontend:
        step(tf.constant(0.0))
    assert not frontend.ends
    with _watching(values=values, capture=CaptureRequest(op_type_filter="Relu")) as frontend:
        step(tf.constant(0.0))
        assert not frontend.ends
        step(tf.constant(np.inf))
        assert len(frontend.ends) == 1
    assert [str(name) for name in _bad(frontend.ends[0].run)] == ["last:0"]


def test_a_filter_of_the_same_name_is_asked_of_the_values() -> None:
    asked: list[Any] = []

    def own(datum: Any, value: Any) -> bool:
        asked.append(datum.node_name)
        return False

    frontend = ScriptedFrontend(RunUntil("has_inf_or_nan"))
    debugger = Debugger(lambda: frontend)
    debugger.add_filter("has_inf_or_nan", own)
    undo = intercept_all_functions(debugger)
    try:
        tf.function(tf.math.log)(tf.constant(0.0))
    finally:
        undo()
    assert not frontend.ends
    assert "Log" in asked


@pytest.mark.parametrize("values", _WAYS)
def test_gradients_outside_of_the_function_are_runs_of_their_own(values: Values) -> None:
    @tf.function
    def length(x: Any) -> Any:
        return tf.sqrt(tf.reduce_sum(x * x))  # tf.norm has a slope at 0 from TensorFlow 2.22 on

    with _watching(values=values) as frontend:
        x = tf.Variable([0.0, 0.0])
        with tf.GradientTape() as tape:
            loss = length(x)
        assert not frontend.ends
        assert np.isnan(tape.gradient(loss, x).numpy()).all()
    (end,) = frontend.ends
    assert end.run.call.function == "gradient of length"


def test_loops_of_version_1_inside_are_passed_by_and_the_rest_is_seen() -> None:
    tf.compat.v1.disable_control_flow_v2()
    try:

        @tf.function(autograph=False)
        def step(x: Any) -> Any:
            y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.nn.relu(a)), (tf.constant(0), x))[1]
            return tf.math.log(tf.cond(x > 5.0, lambda: y - 1.0, lambda: y), name="after")

        step(tf.constant(1.0))
    finally:
        tf.compat.v1.enable_control_flow_v2()
    with _watching() as frontend:
        assert step(tf.constant(1.0)).numpy() == 0.0
        assert not frontend.ends
        step(tf.constant(0.0))
    (end,) = frontend.ends
    assert "after:0" in _bad(end.run)


def test_threads_are_watched_each_for_itself() -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x))

    step(tf.ones([3]))
    with _watching() as frontend:
        step(tf.ones([3]))
        given: list[float] = []
        threads = [
            threading.Thread(target=lambda at=at: given.append(float(step(tf.fill([3], float(at))))))
            for at in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(given) == pytest.approx(sorted([-np.inf, *(3 * np.log(at) for at in range(1, 8))]))
    assert len(frontend.ends) == 1
    assert frontend.ends[0].hit is not None


def test_a_function_compiled_by_xla_stays_compiled_under_a_watch() -> None:
    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        return tf.nn.relu(tf.math.log(x)) + 1.0

    with _watching() as frontend:
        step(tf.constant([1.0, 2.0]))
        step(tf.constant([1.0, 0.0]))
    (end,) = frontend.ends
    assert _bad(end.run)[0] == "Log:0"
    assert end.run.exactness is not None
    assert end.run.exactness.way is ExecutionWay.UNCHANGED  # what XLA makes of it cannot be compared


@pytest.mark.parametrize(("bad", "found"), [(0.0, True), (2.0, False)])
def test_a_result_that_the_copies_do_not_give_is_found(
    monkeypatch: pytest.MonkeyPatch, bad: float, found: bool
) -> None:
    """Beside checks TensorFlow may compute in another order: then these see no NaN, and the program gets one."""

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        return tf.math.log(x), tf.size(x)

    def checked(call: CopiedWatchedCall) -> CallResult:
        return CallResult((tf.zeros([2]), tf.constant(2)), NO_TENSORS, found=False)

    monkeypatch.setattr(CopiedWatchedCall, "_checked", checked)
    with _watching() as frontend:
        step(tf.constant([1.0, bad]))
    assert [_bad(end.run)[0] for end in frontend.ends] == ["Log:0"] * found


def test_nothing_is_added_to_the_runtime_by_runs_after_the_first() -> None:
    """The rewritten functions are kept for all runs of a kind."""
    from tensorflow.python.eager import context

    @tf.function
    def step(x: Any) -> Any:
        return tf.nn.relu(tf.math.log(x))

    with _watching() as frontend:
        step(tf.constant(1.0))
        gc.collect()  # what other tests left may go at any moment
        known = set(context.context().list_function_names())
        for _ in range(50):
            step(tf.constant(1.0))
        assert set(context.context().list_function_names()) == known
    assert not frontend.ends


def test_what_the_watch_does_not_see_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The turns of a loop over a dataset are a function that an op of tf.data calls."""

    @tf.function
    def total(dataset: Any) -> Any:
        found = tf.constant(0.0)
        for x in dataset:
            found += tf.where(x > 0.0, tf.sqrt(x), 0.0)
        return found

    dataset = tf.data.Dataset.from_tensor_slices([1.0, -1.0])
    with _watching() as frontend:
        for _ in range(2):
            total(dataset)
    assert not frontend.ends
    said = capsys.readouterr().err
    assert said.count("the watch does not see what happens inside ScanDataset and ReduceDataset, as in") == 1
    assert "turns of a loop over a dataset" in said
