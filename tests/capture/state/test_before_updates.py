"""A run made again for `unchanged_variable` shows what its variables were before it, as one whose values are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.model.decision import Detach, RunUntil, Values
from tfdbg_cli.model.runs import Run

pytestmark = pytest.mark.tf

FILTER = "unchanged_variable"


def shown(run: Run, name: str) -> list[float]:
    (row,) = run.tensors.named(name)
    value: Any = run.tensors.value(row)
    found: list[float] = value.tolist()
    return found


@pytest.mark.parametrize("values", [Values.REPLAY, Values.KEEP])
def test_of_a_function(tf, watched, values) -> None:
    from tensorflow import Variable, constant, function

    v, w = Variable([1.0, 2.0], name="v"), Variable([5.0], name="w")

    @function(autograph=False)
    def step(x):
        v.assign_add(x)
        w.assign_add([1.0])
        return v.read_value()

    with watched(RunUntil(FILTER, values=values), Detach()) as front:
        step(constant([1.0, 1.0]))
        step(constant([0.0, 0.0]))
    (end,) = front.ends
    assert end.hit.runs == 2
    assert shown(end.run, "v/before_update") == shown(end.run, "v/after_update") == [2.0, 3.0]
    assert (shown(end.run, "w/before_update"), shown(end.run, "w/after_update")) == ([6.0], [7.0])
    assert end.run.graph.find("w/before_update") is not None


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_of_a_session(tf, debugged, graph, resource) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=resource)
    step = v.assign_add(x).op
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, RunUntil(FILTER), Detach())
        session.run(step, {x: [1.0, 1.0]})
        session.run(step, {x: [0.0, 0.0]})
    (end,) = front.ends
    assert end.hit.runs == 2
    assert shown(end.run, "v/before_update") == shown(end.run, "v/after_update") == [2.0, 3.0]
    graph_node = end.run.graph.find("v/before_update")
    assert graph_node is not None
    assert str(graph_node.inputs[0]) == "v:0"


def test_of_a_run_that_a_bundle_makes_again(tf, watched, tmp_path) -> None:
    from tensorflow import Variable, constant, function

    from tfdbg_cli.analysis.watch.answers import ask
    from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
    from tfdbg_cli.cli.replay import replayed

    v, w = Variable([1.0, 2.0], name="v"), Variable([5.0, 5.0], name="w")

    @function(autograph=False)
    def step(x):
        v.assign_add(x)
        w.assign_sub(x * 2.0)
        return v.read_value()

    with watched(RunUntil(FILTER, bundle=str(tmp_path / "bundle")), Detach()) as front:
        step(constant([0.0, 0.0]))
    recorded, again = front.ends[0].run, replayed(str(tmp_path / "bundle")).stop.runs[0]
    for run in (recorded, again):
        assert shown(run, "v/before_update") == shown(run, "v/after_update") == [1.0, 2.0]
        passed = ask(run, range(len(run.tensors)), BUILT_IN_FILTERS[FILTER], {}).passed
        assert [run.tensors[row].node for row in passed] == ["v/after_update", "w/after_update"]
