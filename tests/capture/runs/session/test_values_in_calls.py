"""What is made of the arguments of a function that a session calls is shown, so that its op can be explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = pytest.mark.tf

GOOD, BAD = [[2.0, 3.0], [2.0, 3.0]], [[2.0, 3.0], [2.0, -1.0]]
FUNCTIONS = {
    "log": (lambda tf, a: tf.log(a - 1.0), "Log of a negative number", [[1, 2], [1, -2]]),
    "sqrt": (lambda tf, a: tf.sqrt(tf.abs(a) * 2.0 - 3.0), "Square root of a negative", [[1, 3], [1, -1]]),
    "inverse": (lambda tf, a: 1.0 / tf.nn.relu(a), "Division by 0", [[2, 3], [2, 0]]),
}


@pytest.fixture(autouse=True)
def flow_of_v2(tf):
    """Branches and loops are calls of functions, as TensorFlow 2 makes them."""
    enabled = tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    yield
    if not enabled:
        tf.disable_control_flow_v2()


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
