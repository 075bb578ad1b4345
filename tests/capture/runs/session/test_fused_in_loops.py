"""What went wrong in a while loop of version 1 is explained whichever graph shows it, fused ops included."""

from __future__ import annotations

import pytest

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil, Values

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("loops_of_v1")]

RUNTIME = CaptureRequest(graph=GraphChoice.RUNTIME)
MODES = {
    "watch": RunUntil("has_inf_or_nan"),
    "keep": RunUntil("has_inf_or_nan", values=Values.KEEP),
    "runtime": RunUntil("has_inf_or_nan", capture=RUNTIME),
    "run": DebugRun(RUNTIME),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("product", [False, True], ids=["unary", "product"])
def test_the_origin_in_a_loop_has_cause_line_and_rows(tf, debugged, graph, mode, product) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.constant([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]])

    def body(i, y):
        y = tf.matmul(y, w) if product else y
        return [i + 1, tf.log(tf.tanh(tf.sqrt(y))) + 2.0]

    _, out = tf.while_loop(lambda i, y: i < 2, body, [0, x])
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        session.run(out, {x: [[2.0, 3.0, 1.0], [2.0, -1.0, 1.0]]})
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None
    assert origin.op_type == "Sqrt"
    assert origin.cause.text.startswith("Square root of a negative number")
    assert origin.frame is not None
    assert origin.frame.file == __file__
    assert origin.batch_rows == (1,)
