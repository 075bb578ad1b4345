"""Parts of a session's run computed again with other values: as the whole with those values, and nothing written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.what_if_runs import value_of

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, GraphChoice
from tfdbg_cli.model.names import TensorName

pytestmark = pytest.mark.tf


def _asking(question, answers):
    """A decision at a run's end that asks `question` of the run first."""

    def decide(event):
        answers.append(question(event.run))
        return DebugRun()

    return decide


def _name(text):
    node, slot = text.split(":")
    return TensorName(node, int(slot))


def _ask(debugged, session, fetches, feeds, graph, question):
    answers = []
    capture = CaptureRequest(graph=graph)
    wrapped, _ = debugged(session, DebugRun(capture), _asking(question, answers))
    wrapped.run(fetches, feeds)
    return answers[0]


@pytest.mark.parametrize("choice", [GraphChoice.PYTHON, GraphChoice.RUNTIME])
@pytest.mark.parametrize("by_reference", [True, False])
def test_what_follows_is_computed_and_no_variable_is_touched(tf, graph, debugged, choice, by_reference) -> None:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    w = tf.get_variable("w", initializer=[[2.0, 1.0], [0.0, 3.0]], use_resource=not by_reference)
    noise = tf.random_uniform([2, 2], name="noise")
    h = tf.matmul(x, w, name="h") + 0 * noise
    p = tf.nn.relu(h, name="p")
    picked = tf.gather(w, tf.minimum(tf.cast(p[0], tf.int32), 1), name="picked")
    loss = tf.add(tf.reduce_sum(tf.log(p, name="log")), tf.reduce_sum(noise) + tf.reduce_sum(picked), name="loss")
    train = w.assign_sub(0.5 * p, name="train")
    feed = {x: np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)}
    value = np.array([[1.0, 0.0], [1.0, 2.0]], np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def question(run):
            return run, run.what_if.again(run, {_name("p:0"): value})

        with np.errstate(divide="ignore"):
            run, again = _ask(debugged, session, [loss, train], feed, choice, question)
            start = np.array([[2.0, 1.0], [0.0, 3.0]], np.float32)
            after = session.run(w)
            kept = {name: again.tensors.named(name) for name in ("noise/RandomUniform", "noise")}
            rows = next(rows for rows in kept.values() if rows)
            drawn = again.tensors.value(rows[0])
            expected = np.log(value).sum() + drawn.sum() + start[[1, 0]].sum()
            np.testing.assert_allclose(value_of(again, "loss"), expected, rtol=1e-6)
        assert again.change.replaced == (_name("p:0"),)
        assert any("Nothing was written" in note for note in again.notes)
        assert len(again.tensors) == len(run.tensors)
        np.testing.assert_allclose(after, start - 0.5 * np.maximum(feed[x] @ start, 0), rtol=1e-6)
    assert tf.get_default_graph() is graph
    assert not [op.name for op in graph.get_operations() if "tfdbg_state" in op.name]


@pytest.mark.parametrize("choice", [GraphChoice.PYTHON, GraphChoice.RUNTIME])
def test_a_variable_of_the_old_kind_is_replaced_by_what_it_holds_before_the_run(tf, graph, debugged, choice) -> None:
    """A blind test: it was called a handle without numbers, beside its numbers."""
    w = tf.get_variable("w", initializer=[2.0, 1.0], use_resource=False)
    loss = tf.reduce_sum(w * [1.0, 10.0], name="loss")
    with tf.control_dependencies([loss]):
        train = w.assign_sub([1.0, 0.5], name="train")
    w0 = {_name("w:0"): np.array([5.0, 3.0], np.float32)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def question(run):
            with pytest.raises(TfdbgError, match="train:0 hands on the memory of a variable") as caught:
                run.what_if.require_replaceable(run, _name("train:0"))
            assert caught.value.hint == "Replace the variable, or what is read from it."
            alone = replace(run, replayable=None)
            return run.what_if.again(run, w0), alone.what_if.again(alone, w0)

        whole, part = _ask(debugged, session, [loss, train], {}, choice, question)
        np.testing.assert_array_equal(session.run(w), [1.0, 0.5])
    assert value_of(whole, "loss") == value_of(part, "loss") == 35.0
    np.testing.assert_array_equal(value_of(whole, "w/after_update"), [4.0, 2.5])
    assert any("Nothing was written: train did not run" in note for note in part.notes)


def test_a_feed_is_replaced_and_functions_are_followed(tf, graph, debugged) -> None:
    from tensorflow import function

    @function(autograph=False)
    def halved(t):
        return t / 2.0

    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(halved(x), name="y")
    with tf.Session() as session:

        def question(run):
            return run.what_if.again(run, {_name("x:0"): np.array([8.0, 2.0], np.float32)})

        again = _ask(debugged, session, y, {x: [1.0, 2.0]}, GraphChoice.PYTHON, question)
    np.testing.assert_array_equal(value_of(again, "y"), [4.0, 1.0])
    np.testing.assert_array_equal(again.call.feeds["x:0"], [8.0, 2.0])


@pytest.mark.parametrize("choice", [GraphChoice.PYTHON, GraphChoice.RUNTIME])
@pytest.mark.usefixtures("loops_of_v1")
def test_loops_and_branches_of_version_1_run_as_one(tf, graph, debugged, choice) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    start = tf.identity(x, name="start")
    array = tf.TensorArray(tf.float32, 3).unstack(start * 1.0)
    w = tf.get_variable("w", initializer=2.0, use_resource=True)

    def body(i, total):
        return i + 1, total + w * array.read(i)

    _, total = tf.while_loop(lambda i, _: i < 3, body, [0, tf.reduce_max(start)])
    chosen = tf.cond(total > 10, lambda: tf.constant(1.0) * total, lambda: tf.constant(-1.0) * total, name="choice")
    result = tf.identity(chosen, name="result")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def question(run):
            inside = next((n for n in run.tensors.nodes() if n.startswith("while/add_1")), None)
            if inside is not None:
                with pytest.raises(TfdbgError, match="loop or a branch"):
                    run.what_if.require_replaceable(run, TensorName(inside, 0))
            return inside, run.what_if.again(run, {_name("start:0"): np.array([1.0, 2.0, 3.0], np.float32)})

        inside, again = _ask(debugged, session, result, {x: [0.0, 1.0, 1.0]}, choice, question)
        assert session.run(result, {x: [1.0, 2.0, 3.0]}) == value_of(again, "result") == 15.0
        if choice is GraphChoice.RUNTIME:
            assert value_of(again, inside) == 5.0  # of its first turn


def test_what_cannot_be_replaced_or_computed_says_why(tf, graph, debugged) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=[2.0, 1.0], use_resource=True)
    y = tf.identity(x * w, name="y")
    checked = tf.check_numerics(tf.log(y), "bad log", name="checked")
    answer = tf.numpy_function(lambda a: a + 1, [y], tf.float32, name="python")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def question(run):
            with pytest.raises(TfdbgError, match="w is a variable, and this run cannot be made again") as refused:
                run.what_if.require_replaceable(replace(run, replayable=None), _name("w:0"))
            assert refused.value.hint == "Replace what was read from it: `set mul/ReadVariableOp:0 EXPRESSION`."
            with pytest.raises(TfdbgError, match="no tensor of the program's own graph"):
                run.what_if.require_replaceable(run, _name("nothing:0"))
            with pytest.raises(TfdbgError, match="With these values the run fails: InvalidArgumentError: bad log"):
                run.what_if.again(run, {_name("y:0"): np.array([-1.0, 1.0], np.float32)})
            return run, run.what_if.again(run, {_name("y:0"): np.array([1.0, 1.0], np.float32)})

        feed = {x: np.array([1.0, 2.0], np.float32)}
        run, again = _ask(debugged, session, [checked, answer], feed, GraphChoice.PYTHON, question)
    np.testing.assert_array_equal(value_of(again, "checked"), [0.0, 0.0])
    np.testing.assert_array_equal(value_of(again, "python"), value_of(run, "python"))
    assert "No Python function is called again: what the run got from python is kept." in again.notes
