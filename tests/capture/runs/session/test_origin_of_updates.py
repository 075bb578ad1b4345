"""What an update of this run made not finite is not blamed on an earlier run, whatever reads it behind the update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Decision, Detach, GraphChoice, RunUntil, Values

pytestmark = pytest.mark.tf

FILTER = "has_inf_or_nan"
MODES: dict[str, Decision] = {
    "run": DebugRun(),
    "run python": DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)),
    "watch": RunUntil(FILTER),
    "keep": RunUntil(FILTER, values=Values.KEEP),
    "runtime": RunUntil(FILTER, capture=CaptureRequest(graph=GraphChoice.RUNTIME)),
}
START = np.array([1, 1.8e38, 1], np.float32)
GROWTH = np.array([0, 1.8e38, 0], np.float32)


def variable(tf: Any, resource: bool, start: Any = START) -> Any:
    return tf.get_variable("v", initializer=np.asarray(start, np.float32), use_resource=resource)


def read_behind(tf: Any, v: Any, update: Any) -> Any:
    with tf.control_dependencies([update]):
        read = v.read_value()
    return tf.multiply(read, 0.5, name="half")


def added(tf: Any, v: Any) -> Any:
    return read_behind(tf, v, v.assign_add(GROWTH, name="grow"))


def scattered(tf: Any, v: Any) -> Any:
    return read_behind(tf, v, tf.scatter_add(v, [1], [np.float32(1.8e38)], name="grow"))


def added_alone(tf: Any, v: Any) -> Any:
    return [tf.reduce_sum(tf.zeros([3]), name="loss"), v.assign_add(GROWTH, name="grow").op]


def adam(tf: Any, v: Any) -> Any:
    loss = tf.reduce_sum(v * 0.0, name="loss")
    return [loss, tf.train.AdamOptimizer(0.1, epsilon=0.0, name="grow").minimize(loss)]


def adam_and_read(tf: Any, v: Any) -> Any:
    loss, step = adam(tf, v)
    return [loss, read_behind(tf, v, step)]


def made_at(tf: Any, debugged: Callable[..., Any], mode: str, build: Any, resource: bool) -> Origin:
    v = variable(tf, resource)
    fetches = build(tf, v)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        session.run(fetches)
        found = OriginSearch(front.ends[0].run).first()
        assert found is not None
        return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("build", [added, scattered, added_alone, adam, adam_and_read])
def test_the_origin_is_the_op_that_wrote_it(tf, debugged, graph, mode, build, resource) -> None:
    found = made_at(tf, debugged, mode, build, resource)
    assert "earlier run" not in found.cause.text
    assert found.made_by.startswith("grow"), (found.name, found.made_by, found.cause.text)
    assert found.frame is not None
    assert found.frame.file == __file__


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_what_an_earlier_run_made_is_still_said_to_be_so(tf, debugged, graph, mode, resource) -> None:
    v = variable(tf, resource, [1, np.inf, 1])
    fetches = added(tf, v)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        session.run(fetches)
        found = OriginSearch(front.ends[0].run).first()
    assert found is not None
    assert "earlier run" in found.cause.text, (found.name, found.made_by, found.cause.text)
    assert found.variable == "v"
