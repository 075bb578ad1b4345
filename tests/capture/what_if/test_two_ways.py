"""What if and the stepper compute in two ways: with any tensor replaced they give the same run."""

from __future__ import annotations

import numpy as np
import pytest
from support.what_if_runs import captured

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, GraphChoice
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf


def _agree(run, make_stepper, every=1) -> int:
    """Replace float tensors of `run`, one after the other, in both ways; how many could be."""
    count = 0
    for row in range(0, len(run.tensors), every):
        tensor, value = run.tensors[row], run.tensors.value(row)
        if tensor.dtype != "float32" or isinstance(value, NoValue):
            continue
        replaced = value * np.float32(1.25) + np.float32(0.5)
        try:
            again = run.what_if.again(run, {tensor.name: replaced})
        except TfdbgError:
            continue  # inside a loop or a branch
        stepper = make_stepper()
        try:
            stepper.inject(tensor.name, replaced)
            while stepper.next < len(stepper.nodes):
                stepper.step()
            found = stepper.tensors
        finally:
            stepper.close()
        for at in range(len(found)):
            rows = again.tensors.named(found[at].node, found[at].slot)
            if len(rows) == 1 and not isinstance(found.value(at), NoValue):
                now = again.tensors.value(rows[0])
                np.testing.assert_allclose(
                    now, found.value(at), rtol=1e-5, atol=1e-6, err_msg=f"{tensor.name} -> {found[at].name}"
                )
        count += 1
    return count


def test_a_function_with_branches_loops_and_gradients() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.what_if.steppers import SteppableCall

    w = tf.Variable([[0.5, 0.25], [-0.5, 1.0]], name="w")

    @tf.function
    def layer(x):
        return tf.nn.softplus(tf.matmul(x, w))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = layer(layer(x))
            if tf.reduce_sum(h) > 2.0:
                h = h * 0.5
            for _ in tf.range(2):
                h = tf.sqrt(h + 1.0)
            first, second = tf.split(h, 2, axis=1)
            loss = tf.reduce_mean(tf.square(first) + tf.exp(-second))
        return loss, tape.gradient(loss, w)

    run, what_if, inputs = captured(step, tf.constant([[1.0, 2.0], [0.5, -1.0]]))
    assert _agree(run, SteppableCall(what_if.root, inputs).stepper, every=8) > 5


def test_a_session_with_a_branch_and_a_loop_of_version_1(tf, graph, debugged, loops_of_v1) -> None:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    w = tf.get_variable("w", initializer=[[0.5, 0.25], [-0.5, 1.0]], use_resource=True)
    h = tf.nn.softplus(tf.matmul(x, w))
    h = tf.cond(tf.reduce_sum(h) > 2.0, lambda: h * 0.5, lambda: h + 1.0)
    _, h = tf.while_loop(lambda i, _: i < 2, lambda i, t: (i + 1, tf.sqrt(t + 1.0)), [0, h])
    loss = tf.reduce_mean(tf.square(h) + tf.exp(-tf.tile(h, [1, 1])))
    (gradient,) = tf.gradients(loss, [w])
    counts, steppables = [], []

    def at_start(event):
        steppables.append(event.steppable)
        return DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))

    def at_end(event):
        counts.append(_agree(event.run, steppables[0].stepper, every=4))
        return DebugRun()

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wrapped, _ = debugged(session, at_start, at_end)
        wrapped.run([loss, gradient], {x: [[1.0, 2.0], [0.5, -1.0]]})
    assert counts and counts[0] > 5
