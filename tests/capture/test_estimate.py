"""What a capture will take, and the budget."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.capture.budget import disk_budget, memory_budget, refusal
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil, Values
from tfdbg_cli.model.runs import Estimate

PYTHON = GraphChoice.PYTHON


@pytest.mark.tf
def test_the_estimate_is_right_where_shapes_follow_from_the_feeds(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    w = tf.constant(np.ones([8, 4], np.float32))
    y = tf.matmul(x, w)
    z = tf.reduce_sum(tf.cast(y, tf.float64))
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(CaptureRequest(graph=PYTHON)), Detach())
        session.run(z, {x: np.ones([16, 8])})
    estimate = front.stops[0].estimate
    run = front.ends[0].run
    nbytes = sum(run.tensors[index].nbytes for index in range(len(run.tensors)))
    assert estimate.tensors == len(run.tensors)
    assert estimate.nbytes == nbytes
    assert estimate.unknown == 0
    assert estimate.medium == "memory", "the default of one run is to make it again and hold its values"


@pytest.mark.tf
def test_what_stays_unknown_is_counted(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = tf.where(tf.constant([True, False]))
    with tf.Session() as raw:
        session, front = debugged(raw, Detach())
        session.run([y, tf.exp(x)], {x: [1.0]})
    estimate = front.stops[0].estimate
    assert estimate.unknown == 1, "exp(x) may have any rank"
    assert estimate.nbytes == 2 + 4 + 8, "the leading dimension of where() is taken for the batch"


@pytest.mark.tf
@pytest.mark.parametrize(
    "decision", [DebugRun(CaptureRequest(graph=PYTHON)), RunUntil("has_inf_or_nan", values=Values.KEEP)]
)
def test_over_the_budget_nothing_is_captured_until_told_how(tf, debugged, graph, decision) -> None:
    """tensorflow#16820: one `run` filled the disk."""
    y = tf.zeros([1000, 1000], name="large") + tf.Variable(1.0)
    narrow = DebugRun(CaptureRequest(op_type_filter="Sum", graph=PYTHON))
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        settings = Settings(memory_budget=1000)
        session, front = debugged(raw, decision, narrow, Detach(), settings=settings)
        session.run(tf.reduce_sum(y))
    assert front.path == ["start 1", "start 1", "end 1"]
    (message,) = front.stops[1].notes
    assert "MB" in message
    assert "memory_budget" in message
    assert front.ends[0].run.tensors.nodes() == ["Sum"]


def test_budgets_are_the_settings_or_a_half(tmp_path) -> None:
    settings = Settings(disk_budget=5, memory_budget=7)
    assert (disk_budget(settings), memory_budget(settings)) == (5, 7)
    assert disk_budget(Settings(), tmp_path / "not" / "there") > 1 << 20
    assert memory_budget(Settings()) > 1 << 20


def test_a_refusal_names_cause_size_and_three_ways_out() -> None:
    assert refusal(Estimate(3, 10, 0, 10, "disk")) is None
    assert refusal(Estimate(3, None, 3, 10, "disk")) is None
    message = refusal(Estimate(3, 5 << 20, 0, 1 << 20, "disk"))
    for part in ("3 tensors", "5 MB", "1 MB of disk", "--node_name_filter", "disk_budget 6M", "run -n"):
        assert part in message
