"""Calls of tf.functions, seen and captured while the program stays as it is."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.one_dnn import run_as

from tfdbg_cli.capture.runs.function import function_call
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import (
    CaptureRequest,
    Continue,
    DebugRun,
    Detach,
    PlainRun,
    ProfileRun,
    RunUntil,
    Values,
)
from tfdbg_cli.model.runs import RunEnd, RunStart
from tfdbg_cli.model.sources import user_frame
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf
RUN = DebugRun()


def names(end: RunEnd) -> list[str]:
    store = end.run.tensors
    return [str(store[row].name) for row in range(len(store))]


def value(end: RunEnd, name: str, execution: int = 0) -> Any:
    node, slot = name.split(":")
    return end.run.tensors.value(end.run.tensors.named(node, int(slot))[execution])


def test_a_call_stops_before_and_after_with_its_values(watched) -> None:
    weights = tf.Variable([1.0, 2.0], name="weights")

    @tf.function
    def loss(x, scale):
        return tf.reduce_sum(tf.math.log(x, name="logarithm") * weights) * scale

    x = tf.constant([1.0, 0.5])
    plain = loss(x, tf.constant(2.0))
    with watched(RUN) as front:
        assert loss(x, tf.constant(2.0)).numpy() == plain.numpy()
    start, end = front.stops
    assert isinstance(start, RunStart)
    assert start.call.kind is RunKind.FUNCTION
    assert start.call.title == "run #1: loss(x, scale)"
    assert [(a.name, a.dtype, a.shape, a.captured) for a in start.call.arguments] == [
        ("x", "float32", (2,), False), ("scale", "float32", (), False), ("weights", "float32", (2,), True),
    ]  # fmt: skip
    np.testing.assert_array_equal(start.call.feeds["x"], [1.0, 0.5])
    np.testing.assert_array_equal(start.call.feeds["weights"], [1.0, 2.0])
    assert not start.call.notes
    assert start.estimate is not None and start.estimate.medium == "memory" and start.estimate.nbytes
    np.testing.assert_array_equal(value(end, "logarithm:0"), np.log(np.float32([1.0, 0.5])))
    frame = user_frame(end.run.tracebacks["logarithm"])
    assert frame is not None and frame.file == __file__
    assert "logarithm" in start.graph


def _exchanged(gradient: Any) -> Any:
    """`gradient`, by an op that exchanges values between replicas, of which there is one."""
    return tf.raw_ops.CollectiveReduceV2(
        input=gradient, group_size=1, group_key=7, instance_key=7, ordering_token=[], merge_op="Add", final_op="Id"
    )


@pytest.mark.parametrize(("run", "exchanged"), [(RUN, True), (DebugRun(values=Values.KEEP), False)])
def test_values_taken_in_place_show_variables_after_their_update_too(watched, run: DebugRun, exchanged: bool) -> None:
    weights = tf.Variable([1.0, 2.0], name="weights")

    @tf.function
    def step(x: Any) -> None:
        weights.assign_sub(_exchanged(x) if exchanged else x)

    with watched(run) as front:
        step(tf.constant([0.25, 0.5]))
    (end,) = front.ends
    np.testing.assert_array_equal(value(end, "weights/after_update:0"), weights.numpy())
    np.testing.assert_array_equal(weights.numpy(), np.float32([0.75, 1.5]))
    node = end.run.graph.find("weights/after_update")
    assert node is not None and node.op_type == "UpdatedVariable"


def test_a_retrace_names_the_argument_that_changed(watched) -> None:
    @tf.function
    def scale(x, by):
        return x * by

    with watched(RUN, RUN, RUN, RUN) as front:
        scale(tf.constant([1.0]), 2.0)
        scale(tf.constant([2.0]), 2.0)
        scale(tf.constant([1.0, 2.0]), 2.0)  # here
        scale(tf.constant([1.0]), 3.0)
    notes = [end.run.call.notes for end in front.ends]
    assert notes[0] == ("This call traced the function, its first call.",)
    assert notes[1] == ()
    assert notes[2][0].startswith("This call traced the function anew; it has 2 traces now. Called at ")
    assert "test_function_calls.py" in notes[2][0] and "# here" in notes[2][0]
    assert notes[2][1:] == ("Argument x was float32[1] in the nearest trace and is float32[2] now.",)
    assert notes[3][1:] == (
        "Argument by was 2.0 in the nearest trace and is 3.0 now. "
        "A Python value is part of its trace; pass a tensor.",
    )


def test_debugging_a_call_does_not_trace_it_again(watched) -> None:
    traces = []

    @tf.function
    def step(x):
        traces.append(x)
        return x + 1

    with watched(RUN, RUN):
        step(tf.constant(1))
        step(tf.constant(2))
    step(tf.constant(3))
    assert len(traces) == 1


def test_calls_within_a_call_and_tracing_are_no_runs_of_their_own(watched) -> None:
    @tf.function
    def inner(x):
        return x * 2

    @tf.function
    def outer(x):
        return inner(inner(x))

    with watched(RUN, RUN, RUN) as front:
        outer(tf.constant(1.0))
    assert front.path == ["start 1", "end 1"]
    assert value(front.ends[0], "Identity:0") == 4


def test_the_initialization_of_variables_is_no_run(watched) -> None:
    made: list[tf.Variable] = []

    @tf.function
    def step(x):
        if not made:
            made.append(tf.Variable(tf.ones([2])))
        return x * made[0]

    with watched(RUN, RUN) as front:
        step(tf.constant(2.0))
    assert [end.run.call.function for end in front.ends] == ["step"]


def test_concrete_functions_and_methods(watched) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = tf.Variable(3.0, name="weights")

        @tf.function
        def apply(self, x):
            return x * self.weights

    model = Model()
    concrete = model.apply.get_concrete_function(tf.TensorSpec([], tf.float32))
    with watched(RUN, RUN) as front:
        assert model.apply(tf.constant(2.0)).numpy() == 6
        assert concrete(tf.constant(2.0)).numpy() == 6
    assert [end.run.call.function for end in front.ends] == ["apply", "apply"]
    assert [sorted(end.run.call.feeds) for end in front.ends] == [["weights", "x"]] * 2


def test_functions_of_a_saved_model(watched, tmp_path) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = tf.Variable([1.0, 2.0], name="weights")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def apply(self, x):
            return tf.math.log(x) * self.weights

    model = Model()
    tf.saved_model.save(model, str(tmp_path), signatures=model.apply)
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant([1.0, 0.0])
    with watched(RUN, RUN) as front:
        loaded.apply(x)
        loaded.signatures["serving_default"](x)
    called, signature = front.ends
    assert called.run.call.function == "apply"
    assert np.isneginf(value(called, "apply/Log:0")[1])
    assert any(name.endswith("Log:0") for name in names(signature))
    assert not called.run.tracebacks.get("apply/Log")


def test_composite_optional_and_absent_values_keep_their_structure(watched) -> None:
    @tf.function
    def restructure(ragged, sparse, table):
        return ragged + 1, tf.sparse.to_dense(sparse), table, None, tf.experimental.Optional.from_value(ragged)

    arguments = (tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1]]), {"a": tf.constant(1)})
    with watched(RUN) as front:
        ragged, dense, table, nothing, optional = restructure(*arguments)
    assert ragged.to_list() == [[2], [3, 4]]
    assert dense.numpy().tolist() == [[0, 1]]
    assert table["a"].numpy() == 1 and nothing is None
    assert optional.get_value().to_list() == [[1], [2, 3]]
    assert [a.name for a in front.stops[0].call.arguments] == [
        "ragged",
        "ragged_1",
        "sparse",
        "sparse_1",
        "sparse_2",
        "table",
    ]


def test_a_function_without_outputs_runs_once(watched) -> None:
    total = tf.Variable(0.0)

    @tf.function
    def add(x):
        total.assign_add(x)

    with watched(RUN) as front:
        assert add(tf.constant(2.0)) is None
    assert total.numpy() == 2
    assert len(front.ends[0].run.tensors)


@pytest.mark.parametrize("persistent", [False, True])
def test_gradients_of_a_tape_around_the_call_are_the_same(watched, persistent) -> None:
    weights = tf.Variable([1.0, 2.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.sin(x * weights))

    def gradients(x):
        with tf.GradientTape() as outer, tf.GradientTape(persistent=persistent) as tape:
            outer.watch(x)
            result = loss(x)
            first = tape.gradient(result, weights)
        return result.numpy(), first.numpy(), outer.gradient(first, weights).numpy()

    x = tf.constant([0.5, 1.5])
    plain = gradients(x)
    with watched(*[RUN] * 9) as front:
        debugged = gradients(x)
    for a, b in zip(plain, debugged, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [end.run.call.function for end in front.ends][:2] == ["loss", "gradient of loss"]
    # Afterwards, with a graph that the gradient has grown, the function alone is what it was.
    with watched(RUN) as front:
        assert loss(x).numpy() == plain[0]


def test_gradients_of_forward_accumulators_are_the_same(watched) -> None:
    @tf.function
    def f(x):
        return tf.sin(x) * x

    def derivative():
        x = tf.constant([0.5, 1.5])
        with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as accumulator:
            y = f(x)
        return accumulator.jvp(y).numpy()

    plain = derivative()
    with watched(*[RUN] * 3):
        np.testing.assert_array_equal(derivative(), plain)


def test_an_infinity_in_a_gradient_is_found(watched) -> None:
    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.sqrt(x))

    x = tf.Variable([0.0, 1.0])
    with watched(RunUntil("has_inf_or_nan")) as front, tf.GradientTape() as tape:
        tape.gradient(loss(x), x)
    assert front.ends[0].run.call.function == "gradient of loss"
    assert front.ends[0].hit is not None


def failing() -> Any:
    @tf.function
    def product(x, y):
        return tf.matmul(x, y, name="multiply")

    return product.get_concrete_function(tf.TensorSpec([None, None]), tf.TensorSpec([None, None]))


@pytest.mark.parametrize(
    "decision", [RUN, Continue(), Detach(), ProfileRun(), PlainRun()], ids=lambda d: type(d).__name__
)
def test_errors_of_ops_are_the_same(watched, decision) -> None:
    function = failing()
    x = tf.ones([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        function(x, x)
    with watched(decision) as front, pytest.raises(tf.errors.InvalidArgumentError) as debugged:
        function(x, x)
    text = str(plain.value).split("Matrix", 1)[1]
    assert str(debugged.value).split("Matrix", 1)[1] == text
    ends = front.ends
    assert len(ends) == (not isinstance(decision, Detach))
    for end in ends:
        assert end.run.error is not None
        assert end.run.error.node == "multiply"
        assert end.run.error.message == debugged.value.message
        assert user_frame(end.run.tracebacks["multiply"]) is not None


def test_the_node_that_failed_in_a_nested_function_is_found(watched) -> None:
    @tf.function
    def inner(x, y):
        return tf.matmul(x, y, name="multiply")

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def outer(x):
        return inner(x, x)

    with watched(RUN) as front, pytest.raises(tf.errors.InvalidArgumentError):
        outer(tf.ones([2, 3]))
    error = front.ends[0].run.error
    assert error is not None and error.node is not None and error.node.endswith("multiply")
    assert error.node in front.ends[0].run.graph


def test_errors_that_are_no_ops_errors_come_out_and_lead_to_the_next_stop(watched) -> None:
    @tf.function
    def f(x):
        return x + 1

    with watched(RUN, RUN) as front:
        with pytest.raises(TypeError):
            f()
        f(tf.constant(1))
    assert front.path == ["start 1", "end 1"]


def test_a_function_that_cannot_be_captured_is_called_as_it_is(watched, monkeypatch, capsys) -> None:
    total = tf.Variable(0.0)

    @tf.function
    def add(x):
        return total.assign_add(x)

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr("tfdbg_cli.capture.runs.function.watched_calls.ReplayedCapture", broken)
    with watched(RUN) as front:
        assert add(tf.constant(2.0)).numpy() == 2
    assert total.numpy() == 2
    assert "a bug" in front.ends[0].run.notes[0]
    assert "a bug" in capsys.readouterr().err


def test_a_function_that_cannot_be_made_again_for_the_screen_is_called_as_it_is(watched, monkeypatch) -> None:
    total = tf.Variable(0.0)

    @tf.function
    def add(x):
        return total.assign_add(x)

    def broken(*_: Any, **__: Any) -> Any:
        raise TfdbgError("a bug")

    monkeypatch.setattr("tfdbg_cli.capture.state.call_snapshot.CallSnapshot._ready", broken)
    with watched(RUN) as front:
        assert add(tf.constant(2.0)).numpy() == 2
    assert total.numpy() == 2
    assert any("a bug" in note for note in front.ends[0].run.notes)


@pytest.mark.parametrize("name", ["tracing_notes", "given", "watch_capture"])
def test_a_bug_of_ours_costs_the_program_nothing(watched, monkeypatch, capsys, name) -> None:
    total = tf.Variable(0.0)

    @tf.function
    def add(x):
        return total.assign_add(x)

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(function_call, name, broken)
    with watched(RUN, RUN):
        assert add(tf.constant(2.0)).numpy() == 2
    assert total.numpy() == 2
    assert "a bug" in capsys.readouterr().err


def test_run_until_stops_at_the_call_in_which_a_tensor_passes(watched) -> None:
    @tf.function
    def f(x):
        return tf.where(x > 0.5, tf.math.log(x, name="logarithm"), 0.0)

    with watched(RunUntil("has_inf_or_nan")) as front:
        for x in (1.0, 2.0, 0.0, 3.0):
            f(tf.constant(x))
    (end,) = front.ends
    assert end.run.call.number == 3
    assert end.hit is not None and end.hit.runs == 3
    assert np.isneginf(value(end, "logarithm:0"))


def test_filters_of_the_capture_leave_tensors_out(watched) -> None:
    @tf.function
    def f(x):
        return tf.sin(x, name="first") + tf.cos(x, name="second")

    with watched(DebugRun(CaptureRequest(node_name_filter="^sec", op_type_filter="Cos"))) as front:
        f(tf.constant(1.0))
    assert names(front.ends[0]) == ["second:0"]


def test_a_profile_has_times_of_the_nodes(watched) -> None:
    @tf.function
    def f(x):
        return tf.matmul(x, x, name="multiply")

    f(tf.ones([50, 50]))
    with watched(ProfileRun()) as front:
        f(tf.ones([50, 50]))
    profile = front.ends[0].run.profile
    assert profile is not None
    times = {time.node: time for time in profile.times}
    assert times["multiply"].op_type == run_as("MatMul")
    assert times["multiply"].op_us > 0


def test_a_profile_beside_the_programs_own_says_so(watched, tmp_path) -> None:
    @tf.function
    def f(x):
        return x + 1

    tf.profiler.experimental.start(str(tmp_path))
    try:
        with watched(ProfileRun()) as front:
            assert f(tf.constant(1)).numpy() == 2
    finally:
        tf.profiler.experimental.stop(save=False)
    assert front.ends[0].run.profile is None
    assert "one at a time" in front.ends[0].run.notes[0]


def test_the_budget_of_memory_is_kept(watched) -> None:
    @tf.function
    def f(x):
        return tf.exp(x) + 1.0

    with watched(RUN, DebugRun(force=True), settings=Settings(memory_budget=100)) as front:
        f(tf.ones([1000]))
    assert front.path == ["start 1", "start 1", "end 1"]
    assert "of memory that tfdbg may use" in front.stops[1].notes[0]


def test_threads_are_chosen_by_name(watched) -> None:
    @tf.function
    def f(x):
        return x + 1

    with watched(RUN, thread_name_filter="Main") as front:
        worker = threading.Thread(target=lambda: f(tf.constant(1)), name="Worker")
        worker.start()
        worker.join()
        assert front.path == []
        f(tf.constant(1))
    assert front.path == ["start 2", "end 2"]


def test_functions_that_a_data_set_calls_are_left_alone(watched) -> None:
    @tf.function
    def increase(x):
        return x + 1

    def numbers():
        for number in range(3):
            yield increase(tf.constant(number)).numpy()

    spec = tf.TensorSpec([], tf.int32)
    with watched(RUN, RUN) as front:
        data = tf.data.Dataset.from_generator(numbers, output_signature=spec).map(increase)
        assert list(data.as_numpy_iterator()) == [2, 3, 4]
    assert front.path == []


def test_a_replicated_step_is_one_run(watched) -> None:
    """One device is enough here: the strategy wraps the step in a function of its own."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        weights = tf.Variable(2.0, name="weights")

    @tf.function
    def step(x):
        return strategy.run(lambda x: tf.math.log(x) * weights, args=(x,))

    with watched(RUN) as front:
        step(tf.constant(0.0))
    assert front.path == ["start 1", "end 1"]
    assert np.isneginf(value(front.ends[0], "Log:0"))


def test_taking_it_back_restores_the_classes(watched) -> None:
    kinds = [
        (base_classes.function_class(), "__call__"),
        (compat.atomic_class(), "call_flat"),
        (base_classes.strategy_base(), "run"),
    ]
    before = [vars(kind)[name] for kind, name in kinds]
    with watched():
        assert all(vars(kind)[name] is not original for (kind, name), original in zip(kinds, before, strict=True))
    assert all(vars(kind)[name] is original for (kind, name), original in zip(kinds, before, strict=True))


def test_handles_have_no_values(watched) -> None:
    @tf.function
    def f(iterator):
        return next(iterator)

    with watched(RUN) as front:
        f(iter(tf.data.Dataset.range(3)))
    assert isinstance(front.stops[0].call.feeds["iterator"], NoValue)
    assert front.stops[0].call.arguments[0].shape is None


def test_small_functions_of_packages_are_left_alone_unless_the_program_calls_them(
    watched, tmp_path, monkeypatch
) -> None:
    package = tmp_path / "site-packages" / "somebodys"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import tensorflow as tf\n@tf.function\ndef seed(x):\n    return x + 1\ndef use(x):\n    return seed(x)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import somebodys  # type: ignore[import-not-found]

    with watched(RUN, RUN) as front:
        somebodys.use(tf.constant(1))
        assert front.path == []
        somebodys.seed(tf.constant(1))
    assert front.path == ["start 1", "end 1"]


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_values_share_the_memory_of_tensors_and_keep_what_they_were(watched, dtype) -> None:
    weights = tf.Variable(tf.ones([3], dtype), name="weights")

    @tf.function
    def f(x):
        before = weights.read_value()
        weights.assign_add(x)
        return before + weights

    with watched(RUN) as front:
        f(tf.ones([3], dtype))
    store = front.ends[0].run.tensors
    (row,) = [row for row in range(len(store)) if store[row].op_type == "ReadVariableOp"][:1]
    found = store.value(row)
    weights.assign_add(tf.ones([3], dtype))
    assert found.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 5


def test_texts_are_values_too(watched) -> None:
    @tf.function
    def f(x):
        return tf.strings.join([x, "b"], name="joined"), tf.strings.join([["a", "b"], "c"], name="many")

    with watched(RUN) as front:
        f(tf.constant("a"))
    assert value(front.ends[0], "joined:0").item() == b"ab"
    assert value(front.ends[0], "many:0").tolist() == [b"ac", b"bc"]


def test_a_variable_is_shown_as_the_run_found_it(watched) -> None:
    """`pf VARIABLE` after a run that changed the variable showed its new value."""
    weight, steps = tf.Variable([1.0, 2.0], name="weight"), tf.Variable(0, name="steps")
    offset, count = tf.Variable(5.0, name="offset"), tf.Variable(7, name="count")

    @tf.function
    def step():
        weight.assign(weight * 10.0)
        steps.assign_add(1)  # never read before
        count.assign(3)
        return tf.reduce_sum(weight.read_value()) + offset + tf.cast(count.read_value(), tf.float32)

    with watched(RUN, RUN) as front:
        step()
        offset.assign(6.0)
        step()
        offset.assign(8.0)
        weight.assign([0.0, 0.0])
    feeds = [end.run.call.feeds for end in front.ends]
    assert [feed["weight"].tolist() for feed in feeds] == [[1, 2], [10, 20]]
    assert [int(feed["steps"]) for feed in feeds] == [0, 1]
    assert [float(feed["offset"]) for feed in feeds] == [5, 6]
    assert [int(feed["count"]) for feed in feeds] == [7, 3]
    assert list(feeds[0]) == ["weight", "steps", "count", "offset"]


def test_captured_tensors_have_names_that_say_what_reads_them(watched) -> None:
    """TensorFlow numbers those it has no name for: they were called `1788:0`."""
    table, weight = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([1.0, 2.0], name="weight")

    @tf.function
    def step(x):
        y = tf.raw_ops.AddV2(x=x, y=table[0])
        for _ in tf.range(2):
            y = tf.raw_ops.Mul(x=y, y=table[1]) + weight
        return tf.raw_ops.Neg(x=table, name="both"), y

    with watched(RUN) as front:
        step(tf.ones([2]))
    (end,) = front.ends
    assert list(end.run.call.feeds) == ["x", "strided_slice/input", "weight"]
    np.testing.assert_array_equal(end.run.call.feeds["strided_slice/input"], table)
    assert [str(name) for name in end.run.graph.node("both").inputs] == ["strided_slice/input:0"]
    np.testing.assert_array_equal(value(end, "strided_slice/input:0"), table)
    assert not [name for name in names(end) if name.split(":")[0].isdigit()]


def test_nodes_have_their_own_names_and_lines_under_a_tape(watched) -> None:
    """TensorFlow calls a node `log_0` whose value it gives back to a tape as `log`; it had no line then."""
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.math.log(x * weight, name="log") * tf.sqrt(weight, name="sqrt"))

    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(weight)
        with watched(RUN) as front:
            result = loss(x)
    (end,) = front.ends
    assert {"log", "sqrt", "mul", "mul_1"} <= set(end.run.graph.names())
    assert [str(name) for name in end.run.graph.node("mul_1").inputs] == ["log:0", "sqrt:0"]
    for node in ("log", "sqrt", "mul", "mul_1"):
        frame = user_frame(end.run.tracebacks[node])
        assert frame is not None and frame.file == __file__
    np.testing.assert_array_equal(value(end, "log:0"), np.log(np.float32([1, 6])))
    np.testing.assert_array_equal(value(end, "mul:0"), [1, 6])
    assert tape.gradient(result, weight) is not None


def test_the_op_that_failed_under_a_tape_has_its_own_name(watched) -> None:
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def pick(x):
        return tf.reduce_sum(tf.gather(x, [7], name="gather") * weight)

    with watched(RUN) as front, tf.GradientTape() as tape, pytest.raises(tf.errors.InvalidArgumentError):
        tape.watch(weight)
        pick(tf.constant([1.0]))
    (end,) = front.ends
    assert end.run.error is not None
    assert end.run.error.node == "gather"


def test_a_function_of_tensorflow_1_inside_is_looked_into(watched) -> None:
    """`tf.nn.ctc_loss` of dense labels is made of one (Defun), which keeps no graph."""
    weight = tf.Variable(tf.random.stateless_normal([5, 6], [1, 2]))
    data = tf.random.stateless_normal([2, 7, 5], [3, 4])

    @tf.function
    def step():
        lengths = tf.constant([2, 3]), tf.constant([7, 7])
        labels = tf.constant([[1, 2, 0], [3, 4, 5]])
        with tf.GradientTape() as tape:
            loss = tf.nn.ctc_loss(labels, data @ weight, *lengths, logits_time_major=False, blank_index=0)
        return tape.gradient(loss, weight)

    undebugged = step().numpy()
    with watched(RUN) as front:
        assert np.array_equal(step().numpy(), undebugged)
    run = front.ends[0].run
    assert any("ctc_loss_dense" in run.tensors[row].node for row in range(len(run.tensors)))
    assert run.exactness is not None
    assert run.exactness.exact, run.exactness.sentence
