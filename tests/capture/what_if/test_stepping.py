"""Runs made node by node: the same values as in the run, and the program's state as it was."""

from __future__ import annotations

import numpy as np
import pytest
from support.what_if_runs import captured, value_of

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, GraphChoice
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import From, Letter
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf


def _all(stepper):
    while stepper.next < len(stepper.nodes):
        stepper.step()


def _known(stepper, text):
    node, slot = text.split(":")
    store = stepper.tensors
    return store.value(store.named(node, int(slot))[0])


def _same(stepper, run, least, besides=()):
    """Every tensor of the run that is made once is what the stepper computed; how many at least."""
    store = stepper.tensors
    count = 0
    for row in range(len(store)):
        name = store[row].name
        rows = run.tensors.named(name.node, name.slot)
        value = store.value(row)
        if name.node in besides:
            continue
        if len(rows) == 1 and not isinstance(value, NoValue) and not isinstance(run.tensors.value(rows[0]), NoValue):
            np.testing.assert_allclose(value, run.tensors.value(rows[0]), rtol=1e-6, err_msg=str(name))
            count += 1
    assert count >= least, count


def test_every_step_of_a_function_gives_what_the_run_gave() -> None:
    import tensorflow as tf

    w = tf.Variable([[2.0, 1.0], [0.0, 3.0]], name="w")
    count = tf.Variable(0, name="count")

    @tf.function
    def inner(x):
        count.assign_add(1)
        return tf.matmul(x, w, name="product")

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(inner(x) ** 2, name="loss")
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        for _ in tf.range(3):
            loss = loss / 2.0 if count > 0 else loss
        return loss, tf.reduce_sum(inner(x)), count.read_value()

    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    from tfdbg_cli.capture.what_if.steppers import SteppableCall

    start = w.read_value()
    run, what_if, inputs = captured(step, x)
    after = w.numpy()
    w.assign(start)
    count.assign(0)
    stepper = SteppableCall(what_if.root, inputs).stepper()
    names = [node.name for node in stepper.nodes]
    for node in stepper.nodes:
        assert all(names.index(i.node) < names.index(node.name) for i in node.inputs if i.node in names)
    _all(stepper)
    _same(stepper, run, 20)
    np.testing.assert_array_equal(w.numpy(), start.numpy())
    assert count.numpy() == 0 and not np.array_equal(after, start.numpy())
    with pytest.raises(TfdbgError, match="last node"):
        stepper.step()


def _small():
    import tensorflow as tf

    v = tf.Variable(2.0, name="v")

    @tf.function
    def step(x):
        a = tf.add(x, 1.0, name="a")
        b = tf.multiply(a, v, name="b")
        v.assign(b)
        return tf.sqrt(b, name="c"), tf.multiply(a, v, name="d")

    from tfdbg_cli.capture.what_if.steppers import SteppableCall

    concrete = step.get_concrete_function(tf.constant(1.0))
    from tfdbg_cli.capture.functions.graph.scopes import scope_of

    return v, SteppableCall(scope_of(concrete), [tf.constant(1.0), *concrete.captured_inputs]).stepper()


def test_going_on_to_a_target_reuses_what_is_known() -> None:
    v, stepper = _small()
    stepped = stepper.cont("b")
    assert stepped.computed[-1] == "b" and "a" in stepped.computed
    assert stepped.used[TensorName("x", 0)] is From.GIVEN
    assert (_known(stepper, "b:0"), _known(stepper, "a:0")) == (4.0, 2.0)
    assert Letter.H in stepper.letters("b") and Letter.I in stepper.letters("a")
    stepped = stepper.cont("c")
    assert [name for name in stepped.computed if name in {"a", "b", "c"}] == ["c"]
    assert stepped.used[TensorName("b", 0)] is From.ASKED
    assert stepper.nodes[stepper.next - 1].name == "c"
    stepped = stepper.cont("d")
    assert stepped.updated == ("v",)
    assert _known(stepper, "d:0") == 8.0  # 2 * 4, after the assignment
    assert any(Letter.D in stepper.letters(node.name) for node in stepper.nodes)
    assert v.numpy() == 2.0


def test_a_value_is_injected_and_what_followed_is_forgotten() -> None:
    _, stepper = _small()
    stepper.cont("c")
    stepper.inject(TensorName("a", 0), np.float32(10))
    assert Letter.O in stepper.letters("a")
    assert not stepper.letters("b") & {Letter.H, Letter.I}
    assert not stepper.tensors.named("b")
    stepped = stepper.cont("c")
    assert _known(stepper, "c:0") == pytest.approx(np.sqrt(20.0))
    assert stepped.used[TensorName("a", 0)] is From.OVERRIDE
    with pytest.raises(TfdbgError, match="no tensor of this run"):
        stepper.inject(TensorName("nothing", 0), np.float32(1))
    with pytest.raises(TfdbgError, match="no node of this run"):
        stepper.cont("nothing")


def test_changed_variables_are_put_back_or_read_anew() -> None:
    _, stepper = _small()
    stepper.cont("d")
    assert _known(stepper, "b:0") == 4.0
    stepper.cont("b", invalidate=True)
    assert _known(stepper, "b:0") == 8.0  # read from the variable that is 4 by now
    stepper.cont("b", restore=True)
    assert _known(stepper, "b:0") == 4.0
    assert not any(Letter.D in stepper.letters(node.name) for node in stepper.nodes)


def test_a_variable_is_given_a_value_on_its_copy_and_what_was_read_from_it_is_forgotten() -> None:
    v, stepper = _small()
    assert stepper.held("v") == 2.0 and stepper.held("x") is None and stepper.held("nothing") is None
    stepper.cont("c")
    stepper.assign("v", np.float32(3))
    assert stepper.tensors.named("a") and not stepper.tensors.named("b")
    stepper.cont("b")
    assert (_known(stepper, "b:0"), stepper.held("v")) == (6.0, 3.0)
    stepper.cont("b", restore=True)
    assert (_known(stepper, "b:0"), stepper.held("v")) == (6.0, 3.0), "as what is injected into a tensor stays"
    assert v.numpy() == 2.0


def test_what_was_written_with_the_value_before_is_told_and_written_anew() -> None:
    """A blind test: what was read behind the update was known already, and as it was before the injection."""
    _, stepper = _small()
    stepper.cont("d")
    assert stepper.inject(TensorName("a", 0), np.float32(10)) == ("v",)
    stepper.cont("d")
    assert (_known(stepper, "d:0"), stepper.held("v")) == (40.0, 4.0), "the update was made before"
    stepper.cont("d", restore=True)
    assert (_known(stepper, "d:0"), stepper.held("v")) == (200.0, 20.0)


def test_a_variable_that_was_given_a_value_is_where_the_steps_begin_anew() -> None:
    _, stepper = _small()
    stepper.cont("d")
    assert stepper.assign("v", np.float32(3)) == (), "what is behind the update reads the value now"
    stepper.cont("d")
    assert _known(stepper, "d:0") == 6.0
    stepper.cont("d", restore=True)
    assert (_known(stepper, "d:0"), stepper.held("v")) == (12.0, 6.0)


@pytest.mark.parametrize("by_reference", [True, False])
def test_a_variable_of_a_session_is_given_a_value_on_its_copy(tf, graph, debugged, by_reference) -> None:
    w = tf.get_variable("w", initializer=[2.0, 1.0], use_resource=not by_reference)
    y = tf.multiply(w, 3.0, name="tripled")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steppers = []

        def at_start(event):
            steppers.append(event.steppable.stepper())
            steppers[0].assign("w", np.float32([5, 1]))
            steppers[0].cont("tripled")
            assert steppers[0].held("w").tolist() == [5, 1] and steppers[0].held("tripled") is None
            return DebugRun()

        wrapped, _ = debugged(session, at_start, DebugRun())
        assert wrapped.run(y).tolist() == [6, 3]
        assert _known(steppers[0], "tripled:0").tolist() == [15, 3]


@pytest.mark.parametrize("by_reference", [True, False])
def test_every_step_of_a_session_gives_what_the_run_gave(tf, graph, debugged, by_reference) -> None:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    w = tf.get_variable("w", initializer=[[2.0, 1.0], [0.0, 3.0]], use_resource=not by_reference)
    h = tf.matmul(x, w, name="h")
    loss = tf.reduce_sum(tf.nn.relu(h) ** 2, name="loss")
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = session.run(tf.global_variables())
        steppers = []

        def at_start(event):
            stepper = event.steppable.stepper()
            _all(stepper)
            steppers.append(stepper)
            for before, now in zip(start, session.run(tf.global_variables()), strict=True):
                np.testing.assert_array_equal(before, now)
            return DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))

        wrapped, front = debugged(session, at_start)
        wrapped.run([loss, train], {x: [[1.0, -2.0], [3.0, 4.0]]})
        run = front.ends[0].run
        # The run shows what was read from a reference variable as it is after the update.
        _same(steppers[0], run, 15, besides={"w/read", "w/Momentum/read"} if by_reference else ())
        assert Letter.P in steppers[0].letters("x")
        assert Letter.D in steppers[0].letters("w")


@pytest.mark.usefixtures("loops_of_v1")
def test_loops_of_version_1_are_one_step_of_what_is_behind_them(tf, graph, debugged) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    array = tf.TensorArray(tf.float32, 3).unstack(x * 2.0)
    _, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + array.read(i)), [0, 0.0])
    chosen = tf.cond(total > 10, lambda: total * 1.0, lambda: total * -1.0)
    result = tf.identity(chosen, name="result")
    noise = tf.random_uniform([2], name="noise")
    with tf.Session() as session:
        found = []

        def at_start(event):
            stepper = event.steppable.stepper()
            found.append(stepper)
            with pytest.raises(TfdbgError, match="inside a loop"):
                stepper.cont(next(n.name for n in stepper.nodes if n.name.startswith("while/add")))
            _all(stepper)
            return DebugRun()

        wrapped, _ = debugged(session, at_start)
        value, _ = wrapped.run([result, noise], {x: [1.0, 2.0, 3.0]})
        assert _known(found[0], "result:0") == value == 12.0
        assert any("the run draws others" in note for note in found[0].notes)
        letters = found[0].letters("while/Merge")
        assert Letter.U in letters


def test_what_the_program_would_miss_is_not_taken(tf, graph, debugged) -> None:
    with tf.Session() as session:
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5))
        batch = tf.identity(iterator.get_next(), name="batch")
        doubled = tf.multiply(batch, 2, name="doubled")

        def at_start(event):
            stepper = event.steppable.stepper()
            with pytest.raises(TfdbgError, match="would take from the program"):
                stepper.cont("doubled")
            stepper.inject(TensorName("batch", 0), np.int64(7))
            stepper.cont("doubled")
            assert _known(stepper, "doubled:0") == 14
            return DebugRun()

        wrapped, front = debugged(session, at_start)
        assert wrapped.run(doubled) == 0
        assert isinstance(front.path, list) and len(front.ends) == 1


def test_the_run_that_is_over_is_stepped_through_from_its_beginning(tf, graph, debugged) -> None:
    w = tf.get_variable("w", initializer=[2.0, 1.0], use_resource=True)
    noise = tf.random_uniform([2], name="noise")
    train = w.assign_sub(0.5 * w * noise, name="train")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []

        def at_end(event):
            found.append((event.run.steppable.stepper(), event.run))
            _all(found[0][0])
            return DebugRun()

        wrapped, _ = debugged(session, DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)), at_end)
        wrapped.run(train)
        _same(*found[0], 3)


def test_a_function_that_is_over_is_stepped_through_from_its_beginning(watched) -> None:
    import tensorflow as tf

    w = tf.Variable([2.0, 1.0], name="w")
    data = iter(tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]))

    @tf.function
    def step(iterator):
        x = tf.identity(next(iterator), name="x")
        w.assign_sub(tf.multiply(x, w, name="product"))
        return tf.reduce_sum(w)

    found = []

    def at_start(event):
        stepper = event.steppable.stepper()
        with pytest.raises(TfdbgError, match="would take from the program"):
            _all(stepper)
        return DebugRun()

    def at_end(event):
        found.append((event.run.steppable.stepper(), event.run))
        _all(found[0][0])
        return DebugRun()

    with watched(at_start, at_end):
        step(data)
    stepper, run = found[0]
    _same(stepper, run, 4)
    np.testing.assert_array_equal(value_of(run, "x"), [1.0, 2.0])
    np.testing.assert_array_equal(w.numpy(), [0.0, -1.0])
