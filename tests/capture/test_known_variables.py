"""What TensorFlow tells of variables, at stops of sessions and functions, and that asking changes nothing."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt

from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf
v1 = tf.compat.v1


def _told(prompt: Prompt, *facts: str) -> dict[str, tuple[object, ...]]:
    return {row["name"]: tuple(row[fact] for fact in facts) for row in prompt.data("lv --stats")["variables"]}


def test_a_session(debugged, graph) -> None:
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    kernel = v1.get_variable("kernel", [3, 2], initializer=v1.ones_initializer())
    old = v1.get_variable("old", [2], initializer=v1.zeros_initializer(), use_resource=False)
    v1.get_variable("forgotten", [3, 2])
    v1.get_variable("counter", [], trainable=False, initializer=v1.zeros_initializer())
    with v1.variable_scope("", auxiliary_name_scope=False):
        v1.Variable(tf.ones([3, 2]), name="kernel")
    loss = tf.reduce_sum(x @ kernel + old)
    train = v1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
    with v1.Session() as raw:
        named = {one.op.name: one for one in v1.global_variables()}
        made = [one.initializer for name, one in named.items() if name not in ("forgotten", "kernel_1")]
        raw.run(made)
        version, ops = graph.version, len(graph.get_operations())
        session, front = debugged(raw, DebugRun())
        session.run([loss, train], {x: np.ones((1, 3), np.float32)})
        start, end = front.stops
        at_start = _told(Prompt(start), "trainable", "written", "initialized")
        assert at_start["forgotten"] == (True, False, False)
        assert at_start["kernel"] == (True, True, True)
        assert (graph.version, len(graph.get_operations())) >= (version, ops)
        told = _told(Prompt(end), "trainable", "read", "written", "initialized", "slot_of")
        asked = end.run.variables.initialized(["forgotten"])
        assert len(graph.get_operations()) == ops
    assert asked == {"forgotten": False}
    assert told["kernel"] == (True, True, True, True, None)
    assert told["old"] == (True, True, True, True, None)
    assert told["kernel/Momentum"] == (False, True, True, True, "kernel")
    assert told["counter"] == (False, False, False, True, None)
    assert told["forgotten"] == (True, False, False, False, None)
    assert told["kernel_1"][3] is False
    data = Prompt(end).data("lv --stats")
    assert data["near_duplicates"] == [["kernel_1", "kernel"]]
    rows = {row["name"]: row["summary"] for row in data["variables"]}
    assert rows["kernel"]["max"] == 0.5 and rows["old"]["min"] == -0.5, "as the run left them"


def test_a_closed_session_tells_nothing(debugged, graph) -> None:
    v1.get_variable("idle", [2])
    used = v1.get_variable("used", [2], initializer=v1.zeros_initializer())
    with v1.Session() as raw:
        raw.run(used.initializer)
        session, front = debugged(raw, DebugRun())
        session.run(used + 1.0)
    told = _told(Prompt(front.ends[0]), "initialized")
    assert told == {"idle": (None,), "used": (True,)}


def test_a_function(watched) -> None:
    kernel = tf.Variable(tf.ones([3, 2]), name="kernel")
    table = tf.Variable(tf.ones([5, 2]), name="table", trainable=False)
    steps = tf.Variable(0, name="steps", trainable=False, dtype=tf.int64)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x @ kernel) + tf.reduce_sum(tf.gather(table, [1, 2]))
        kernel.assign_sub(tape.gradient(loss, kernel))
        steps.assign_add(1)
        return loss

    with watched(DebugRun()) as front:
        step(tf.ones([1, 3]))
    prompt = Prompt(front.ends[-1])
    assert _told(prompt, "trainable", "read", "written", "initialized", "value_of", "shape") == {
        "kernel": (True, True, True, True, "updated", [3, 2]),
        "table": (False, True, False, True, "given", [5, 2]),
        "steps": (False, True, True, True, "updated", []),
    }
    rows = {row["name"]: row["summary"] for row in prompt.data("lv --stats")["variables"]}
    assert rows["kernel"]["max"] == 0.0 and rows["table"]["size"] == 10 and rows["steps"]["max"] == 1
    assert prompt.link("lv", "table") == "pf table"


def test_two_variables_of_a_name_and_a_branch(watched) -> None:
    first, second = (tf.Variable(tf.ones([2]), name="w") for _ in range(2))

    @tf.function
    def step(x):
        if tf.reduce_sum(x) > 0:
            first.assign_add(second)
        return x + first

    with watched(DebugRun()) as front:
        step(tf.ones([2]))
    prompt = Prompt(front.ends[-1])
    told = _told(prompt, "read", "written")
    assert set(told) == {"w", "w_1"} and sorted(told.values()) == [(True, False), (True, True)]
    assert "Made twice? Of one shape: w_1 beside w." in prompt.show("lv")


def test_a_layer_that_keras_has_frozen_is_not_trained(watched, monkeypatch) -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(3, name="one"), keras.layers.Dense(1, name="two")]
    )
    model.layers[0].trainable = False

    @tf.function
    def predict(x):
        return model(x)

    with watched(DebugRun()) as front:
        predict(tf.ones([1, 2]))
    trained = {name: told[0] for name, told in _told(Prompt(front.ends[0]), "trainable").items()}
    assert {name.rpartition("/")[0].rpartition("/")[2]: told for name, told in trained.items()} == {
        "one": False,
        "two": True,
    }
    model.layers[0].trainable, model.layers[1].trainable = True, False
    monkeypatch.setattr(gc, "get_objects", lambda: pytest.fail("looked through again"))
    with watched(DebugRun()) as front:
        predict(tf.ones([1, 2]))
    assert [told[0] for told in _told(Prompt(front.ends[0]), "trainable").values()] == [True, True, False, False]
