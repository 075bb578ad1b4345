"""Parts of a function's run computed again with other values: as the whole with those values, and nothing written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.what_if_runs import captured, value_of

from tfdbg_cli.analysis.difference.changes import differences
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec

pytestmark = pytest.mark.tf


def test_what_follows_is_computed_again_and_the_rest_is_shared() -> None:
    import tensorflow as tf

    w = tf.Variable([[2.0, 1.0], [0.0, 3.0]], name="w")

    @tf.function
    def step(x):
        h = tf.matmul(x, w, name="h")
        p = tf.nn.relu(h, name="p")
        loss = tf.reduce_sum(tf.math.log(p, name="log"), name="loss")
        w.assign_sub(0.1 * p)
        return loss

    run, what_if, _ = captured(step, tf.constant([[1.0, -2.0], [3.0, 4.0]]))
    before = w.numpy()
    value = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    again = what_if.again(run, {TensorName("p", 0): value})
    assert value_of(again, "loss") == pytest.approx(np.log(value).sum())
    np.testing.assert_array_equal(value_of(again, "p"), value)
    np.testing.assert_array_equal(value_of(again, "h"), value_of(run, "h"))
    np.testing.assert_array_equal(w.numpy(), before)
    assert not np.isfinite(value_of(run, "loss"))
    assert again.change is not None and again.change.base is run
    assert any("Nothing was written" in note for note in again.notes)
    assert [again.tensors[i].name for i in range(len(again.tensors))] == [
        run.tensors[i].name for i in range(len(run.tensors))
    ]


def test_nested_calls_branches_and_loops_below_are_followed() -> None:
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")

    @tf.function
    def inner(x):
        return tf.multiply(x, w, name="scaled")

    @tf.function
    def step(x):
        y = inner(tf.identity(x, name="start"))
        n = tf.constant(0)
        while tf.reduce_sum(y) < 100.0:
            y = inner(y)
            n += 1
        z = tf.sqrt(y, name="root") if n > 3 else tf.negative(y, name="minus")
        return z, n

    run, what_if, _ = captured(step, tf.constant([1.0, 2.0]))
    for start in ([30.0, 30.0], [0.1, 0.2], [1.0, 2.0], [200.0, 1.0]):
        again = what_if.again(run, {TensorName("start", 0): np.array(start, np.float32)})
        truth, _, _ = captured(step, tf.constant(start))
        ours = [(str(again.tensors[i].name), again.tensors[i].execution) for i in range(len(again.tensors))]
        theirs = [(str(truth.tensors[i].name), truth.tensors[i].execution) for i in range(len(truth.tensors))]
        assert ours == theirs
        for i in range(1, len(ours)):  # the argument itself is not what was replaced
            np.testing.assert_array_equal(again.tensors.value(i), truth.tensors.value(i), err_msg=str(ours[i]))
    inside = next(run.tensors[i].name for i in range(len(run.tensors)) if "body" in run.tensors[i].node)
    with pytest.raises(TfdbgError, match="runs as one"):
        what_if.require_replaceable(run, inside)
    assert w.numpy() == 2.0


class _Held:
    """A run that holds what one variable was before it."""

    def __init__(self, name, value):
        self._input = ReplayInput(name, InputRole.VARIABLE, "float32", value)

    def replay_spec(self):
        return ReplaySpec(RunKind.FUNCTION, b"", inputs=(self._input,))

    def undo(self):
        return ()


def test_an_argument_can_be_replaced_and_random_numbers_stay() -> None:
    import tensorflow as tf

    generator = tf.random.Generator.from_seed(3)
    table = tf.Variable(tf.range(10.0), name="table")

    @tf.function
    def step(x):
        noise = generator.normal([2], name="noise") * tf.gather(table, tf.cast(x, tf.int32))
        table.assign_add(tf.ones([10]))
        old = tf.random.uniform([2])
        return noise + x + old

    run, what_if, _ = captured(step, tf.constant([1.0, 2.0]))
    values = {TensorName("x", 0): np.array([3.0, 4.0], np.float32)}
    with pytest.raises(TfdbgError, match="variable table held before"):
        what_if.again(run, values)
    again = what_if.again(replace(run, replayable=_Held("table", np.arange(10, dtype=np.float32))), values)
    noise = [n for n in run.tensors.nodes() if "tatelessRandomNormal" in n][-1]
    uniform = [n for n in run.tensors.nodes() if "andom_uniform" in n or "RandomUniform" in n][-1]
    expected = value_of(run, noise) * np.array([3.0, 4.0]) + [3.0, 4.0] + value_of(run, uniform)
    result = str(run.call.fetches[0]).split(":")[0]
    np.testing.assert_allclose(value_of(again, result), expected, rtol=1e-6)
    np.testing.assert_array_equal(table.numpy(), np.arange(10.0) + 1)


def test_the_batch_and_the_arguments_are_shown_as_they_were_set() -> None:
    """A blind test: `row` and `pf` showed the batch of the program's run."""
    import tensorflow as tf
    from support.prompt import Prompt

    from tfdbg_cli.model.runs import RunEnd

    @tf.function
    def step(x, y):
        return tf.math.log(x) + y

    run, _, _ = captured(step, tf.constant([[1.0, 2.0], [0.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]]))
    prompt = Prompt(RunEnd(run))
    prompt.show("set x:0 [[3,9],[2,1]]")
    prompt.show("again")
    assert prompt.data("pf x")["value"] == [[3, 9], [2, 1]]
    assert [one["value"] for one in prompt.data("row 0")["components"]] == [[3, 9], [5, 6]]
    prompt.show("original")
    assert prompt.data("pf x")["value"] == [[1, 2], [0, 4]]


def test_a_step_of_keras_is_computed_again_bit_for_bit(watched) -> None:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Input((12,)),
            keras.layers.Dense(16, activation="relu", name="first"),
            keras.layers.Dropout(0.3),
            keras.layers.BatchNormalization(),
            keras.layers.Reshape((4, 4)),
            keras.layers.GRU(8),
            keras.layers.Dense(3),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = np.random.default_rng(0).normal(size=(16, 12)).astype("float32"), np.arange(16) % 3
    weights = []
    found = []

    def at_end(event):
        run = event.run
        weights.append([weight.numpy() for weight in model.weights])
        name = next(run.tensors[i].name for i in range(len(run.tensors)) if run.tensors[i].op_type == "Relu")
        same = run.what_if.again(run, {name: value_of(run, name.node)})
        other = run.what_if.again(run, {name: np.zeros_like(value_of(run, name.node))})
        found.extend([run, same, other, name])
        weights.append([weight.numpy() for weight in model.weights])
        return DebugRun()

    with watched(DebugRun(), at_end):
        model.fit(x, y, batch_size=16, verbose=0)
    run, same, other, name = found
    assert same.change.recomputed > 500
    assert not list(differences(run.tensors, same.tensors))
    changed = list(differences(run.tensors, other.tensors))
    assert other.tensors[changed[0].second].name == name
    assert len(changed) > 100
    for before, after in zip(*weights, strict=True):
        np.testing.assert_array_equal(before, after)


def test_what_is_compiled_by_xla_is_computed_again() -> None:
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def inner(x):
        return tf.sqrt(tf.identity(x, name="middle") * 2.0, name="root")

    @tf.function
    def step(x):
        return inner(tf.identity(x, name="start")) + 1.0

    run, what_if, _ = captured(step, tf.constant([2.0, 8.0]))
    again = what_if.again(run, {TensorName("start", 0): np.array([0.5, 32.0], np.float32)})
    result = run.call.fetches[0].split(":")[0]
    np.testing.assert_allclose(value_of(again, result), [2.0, 9.0])
    roots = [n for n in again.tensors.nodes() if n.endswith("/root")]
    np.testing.assert_allclose(value_of(again, roots[0]), [1.0, 8.0])
    with pytest.raises(TfdbgError, match="runs as one"):
        what_if.again(run, {run.tensors[run.tensors.named(roots[0])[0]].name: np.zeros(2, np.float32)})


def test_a_value_that_was_not_captured_is_named() -> None:
    import tensorflow as tf

    from tfdbg_cli.model.gathered import PartOfStore

    @tf.function
    def step(x):
        noise = tf.random.uniform([2])
        return tf.add(tf.identity(x, name="start"), noise, name="sum")

    run, what_if, _ = captured(step, tf.constant([1.0, 2.0]))
    rows = [i for i in range(len(run.tensors)) if "andom" not in run.tensors[i].node]
    narrowed = replace(run, tensors=PartOfStore(run.tensors, rows))
    with pytest.raises(TfdbgError, match="which was not captured"):
        what_if.again(narrowed, {TensorName("start", 0): np.zeros(2, np.float32)})


def test_a_run_that_is_held_is_made_again_as_a_whole_its_updates_too() -> None:
    """What reads a variable after its update follows from the replaced value, too; the program's own stays."""
    import tensorflow as tf
    from support.prompt import Prompt
    from support.scripted import ScriptedFrontend

    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
    from tfdbg_cli.debugger.debugger import Debugger
    from tfdbg_cli.model.decision import DebugRun, Detach
    from tfdbg_cli.model.names import TensorName
    from tfdbg_cli.model.runs import RunEnd, Stop

    weight = tf.Variable([1.0, 2.0], name="weight")
    made = []

    @tf.function
    def step(x):
        y = tf.sqrt(x, name="root") * weight
        weight.assign_sub(tf.reduce_mean(y) * tf.ones([2]))
        return tf.reduce_sum(weight.read_value(), name="after")

    def ask(event: Stop):
        assert isinstance(event, RunEnd)
        made.append(event.run.what_if.again(event.run, {TensorName("root", 0): np.float32([3.0, 3.0])}))
        made.append(event.run.what_if.again(event.run, {TensorName("x", 0): np.float32([1.0, 9.0])}))
        prompt = Prompt(event)
        assert "weight:0" in prompt.show("set weight[1] 5")
        prompt.show("set x np.float32([1, 1])")
        prompt.show("again")
        made.append(prompt.context.run)
        return Detach()

    front = ScriptedFrontend(DebugRun(), ask)
    undo = intercept_all_functions(Debugger(lambda: front))
    try:
        result = step(tf.constant([-1.0, 4.0]))
    finally:
        undo()
    assert np.isnan(result)
    assert np.isnan(weight.numpy()).all()
    again, given_other, of_variable = made
    (row,) = again.tensors.named("after")
    assert again.tensors.value(row) == 1 + 2 - 2 * (3 * 1 + 3 * 2) / 2
    assert given_other.call.feeds["x"].tolist() == [1, 9]
    assert again.change.replaced == (TensorName("root", 0),)
    assert value_of(of_variable, "mul/ReadVariableOp").tolist() == [1.0, 5.0]
    assert value_of(of_variable, "after") == 1 + 5 - 2 * (1 + 5) / 2, "the update goes on from what was set"


def test_a_replaced_argument_and_a_loop_behind_it() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.replay.any_replay import replay
    from tfdbg_cli.capture.replay.replaced_values import with_replaced
    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.tf.compat import atomic_of
    from tfdbg_cli.model.names import TensorName

    total = tf.Variable(0.0, name="total")

    @tf.function
    def step(x):
        for _ in tf.range(3):
            x = x * 2.0
        total.assign_add(x)
        return total.read_value()

    concrete = step.get_concrete_function(tf.constant(1.0))
    traced = traced_function(atomic_of(concrete))
    held = CallSnapshot.of(traced.snapshot_plan, [tf.constant(1.0), *concrete.captured_inputs])
    (name,) = (name for name in traced.given if name == "x")
    replayed = replay(with_replaced(held.replay_spec(), {TensorName(name, 0): np.float32(5.0)}))
    read = next(row for row in range(len(replayed.tensors)) if replayed.tensors[row].op_type == "ReadVariableOp")
    last = max(replayed.tensors.named(replayed.tensors[read].node))
    assert replayed.tensors.value(last) == 40.0
    loop = [n for n in replayed.tensors.nodes() if n.endswith("while/body/mul") or n.endswith("body/mul")]
    assert loop, replayed.tensors.nodes()
    assert total.numpy() == 0.0
