"""After an error the origin is found wherever the run was: in a loop, in a function, behind random numbers."""

from __future__ import annotations

from typing import Any

import pytest
from support.prompt import text_of

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil, Values

pytestmark = pytest.mark.tf

FILTER = "has_inf_or_nan"
MODES = {
    "run": DebugRun(),
    "watch": RunUntil(FILTER),
    "keep": RunUntil(FILTER, values=Values.KEEP),
    "runtime": RunUntil(FILTER, capture=CaptureRequest(graph=GraphChoice.RUNTIME)),
}


def in_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, y: Any) -> list[Any]:
        return [i + 1, tf.check_numerics(tf.log(y) + 1.0, "bad")]

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]


def in_function(tf: Any, x: Any) -> Any:
    @tf.compat.v2.function(autograph=False)
    def inner(a: Any) -> Any:
        return tf.log(a * 1.0)

    @tf.compat.v2.function(autograph=False)
    def outer(a: Any) -> Any:
        return tf.check_numerics(inner(a) * 2.0, "bad")

    return outer(x + 0.0)


def behind_random(tf: Any, x: Any) -> Any:
    y = tf.log(x + tf.random_uniform([2]) * 1e-3, name="y")
    return tf.check_numerics(y * 2.0, "bad")


@pytest.mark.usefixtures("loops_of_v1")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", [in_loop, in_function, behind_random])
def test_the_origin_is_found_when_the_run_failed(tf, debugged, graph, mode, build) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = build(tf, x)
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {x: [[2.0, 3.0], [2.0, -1.0]]})
    run = front.ends[0].run
    assert run.error is not None
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.op_type == "Log"
    assert origin.cause.text.startswith("Log of a negative number")
    assert origin.frame is not None
    assert origin.frame.file == __file__
    assert origin.batch_rows == (1,)


@pytest.mark.parametrize("mode", ["watch", "keep"])
def test_a_run_without_values_is_not_called_fine(tf, debugged, graph, mode) -> None:
    @tf.compat.v2.function(autograph=False)
    def noisy(a: Any) -> Any:
        return tf.log(a + tf.random_uniform([2], seed=3) * 1e-3)

    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = tf.check_numerics(noisy(x) * 2.0, "bad")
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {x: [[2.0, 3.0], [2.0, -1.0]]})
    run = front.ends[0].run
    assert not len(run.tensors)
    said = text_of("origin", run, width=400)
    assert "No NaN" not in said
    assert "The run failed" in said
    assert "RandomUniform" in said  # what stands in the way of making it again
    assert "--graph runtime" in said  # the way out; see the mode `runtime` above
