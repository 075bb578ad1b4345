"""In a session, too, what a conditional hands to its gradients leads back to the branch that computed it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.prompt import json_of

from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Decision, Detach, GraphChoice, RunUntil

pytestmark = pytest.mark.tf

FILTER = "has_inf_or_nan"
MODES: dict[str, Decision] = {
    "run": DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)),
    "watch": RunUntil(FILTER),
}
ROWS = np.ones((4, 2), np.float32)
ROWS[2] = 0.0


def root(tf: Any, x: Any) -> Any:
    return tf.reduce_sum(tf.sqrt(tf.reduce_sum(x * x, 1)))


def overflow(tf: Any, x: Any) -> Any:
    return tf.reduce_sum(tf.minimum(tf.exp(100.0 * (1.0 - x)), 10.0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("body", "op_type"), [(root, "SqrtGrad"), (overflow, "Exp")])
def test_the_branch_is_found(
    tf: Any, debugged: Callable[..., Any], graph: Any, flow_of_v2: None, mode: str, body: Any, op_type: str
) -> None:
    """A blind test: of the outputs of a conditional the first was shown in the place of each."""
    w = tf.get_variable("w", initializer=1.0, use_resource=True)
    x, yes = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.bool, [], "yes")
    loss = tf.cond(yes, lambda: body(tf, x * w), lambda: 0.0)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as raw:
        raw.run(w.initializer)
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        session.run(step, {x: ROWS, yes: True})
    found = json_of("origin", front.ends[0])
    lines, first = inspect.getsourcelines(body)
    assert found["op_type"] == op_type and found["line"] == first + len(lines) - 1
    assert found["batch"]["source"] == "x:0" and found["batch_rows"] == [2]
