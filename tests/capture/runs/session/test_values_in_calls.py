"""What functions that a session calls compute is shown, of arguments and in branches, so that it can be explained."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.functions.calling.frame_reports import FrameReports
from tfdbg_cli.capture.functions.definition.call_tree import CallKind
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("flow_of_v2")]

GOOD, BAD = [[2.0, 3.0], [2.0, 3.0]], [[2.0, 3.0], [2.0, -1.0]]
FUNCTIONS = {
    "log": (lambda tf, a: tf.log(a - 1.0), "Log of a negative number", [[1, 2], [1, -2]]),
    "sqrt": (lambda tf, a: tf.sqrt(tf.abs(a) * 2.0 - 3.0), "Square root of a negative", [[1, 3], [1, -1]]),
    "inverse": (lambda tf, a: 1.0 / tf.nn.relu(a), "Division by 0", [[2, 3], [2, 0]]),
}


def called(tf: Any, kind: str, body: Any, x: Any) -> Any:
    if kind == "call":
        return tf.compat.v2.function(body, autograph=False)(x)
    return tf.cond(tf.reduce_any(x > 0.0), lambda: body(x), lambda: x)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["call", "branch"])
def test_an_op_behind_elementwise_ops_of_the_argument_has_inputs_and_rows(tf, debugged, graph, name, kind) -> None:
    body, cause, given = FUNCTIONS[name]
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = tf.identity(called(tf, kind, lambda a: tf.identity(body(tf, a)), x * 1.0), name="out")
    with tf.Session() as raw:
        session, front = debugged(raw, RunUntil("has_inf_or_nan"), Detach())
        session.run(out, {x: GOOD})
        session.run(out, {x: BAD})
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None
    assert origin.cause.text.startswith(cause)
    np.testing.assert_allclose(origin.inputs[-1].value, given)
    assert origin.batch_rows == (1,)


@pytest.fixture
def slow_branches(monkeypatch):
    """What a branch computed is reported late, so that nothing comes behind it but what waits for it."""
    take = FrameReports._take

    def taken(self: FrameReports, number: int, values: Any) -> None:
        call = self.frames[number].scope.call if number >= 0 else None
        if call is not None and call.kind is CallKind.BRANCH:
            time.sleep(0.05)
        take(self, number, values)

    monkeypatch.setattr(FrameReports, "_take", taken)


@pytest.mark.parametrize("with_gradient", [False, True])
def test_the_branch_that_a_turn_took_is_told(tf, debugged, graph, slow_branches, with_gradient) -> None:
    """With a gradient TensorFlow optimizes the function on its own, and then puts the branches in their places."""
    v2 = tf.compat.v2

    def step(i: Any, s: Any) -> Any:
        number = v2.where(v2.equal(i, 2), k, 0)
        return i + 1, s + v2.switch_case(number, [lambda: v2.abs(s) * 2.0, lambda: v2.math.log(v2.abs(s) - s)])

    @v2.function(autograph=False)
    def looped(a: Any) -> Any:
        return v2.while_loop(lambda i, s: i < 4, step, (0, a))[1]

    a, k = tf.placeholder(tf.float32, [2], name="a"), tf.placeholder(tf.int32, [], name="k")
    out = looped(a)
    fetches = [out, tf.gradients(out, a)[0]] if with_gradient else [out]
    with tf.Session() as raw:
        session, front = debugged(raw, RunUntil("has_inf_or_nan"), Detach())
        for number in (0, 1):
            session.run(fetches, {a: [1.0, 1.0], k: number})
    found = json_of("origin", front.ends[0])
    assert found["tensor"].endswith("/branch1/Log:0") and found["execution"] == 0
    assert found["inputs"][0].endswith("/branch1/sub:0")
    assert "Turn      3 of the loop" in text_of("origin", front.ends[0], width=200)
    tensors = front.ends[0].run.tensors
    (log,) = tensors.named(found["tensor"].removesuffix(":0"))
    before, own = tensors.named(found["tensor"].removesuffix("/branch1/Log:0"), 0)[1:3]
    assert before < log < own, "what a branch computed comes before what its call gives"
