"""Times of ops from RunMetadata."""

from __future__ import annotations

import pytest

from tfdbg_cli.formats.messages.step_stats import profile_of
from tfdbg_cli.model.decision import Detach, ProfileRun
from tfdbg_cli.model.graph import Graph, Node

pytestmark = pytest.mark.tf


def test_a_profiled_run_has_times_of_its_ops(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    y = tf.matmul(x, x, name="product")
    with tf.Session() as raw:
        session, front = debugged(raw, ProfileRun(), Detach())
        session.run(y, {x: [[1.0] * 64] * 64})
    run = front.ends[0].run
    times = {time.node: time for time in run.profile.times}
    assert times["product"].op_type == "MatMul"
    assert times["product"].device.endswith("CPU:0")
    assert 0 < times["product"].op_us <= times["product"].exec_us
    starts = [time.start_us for time in run.profile.times]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert len(run.tensors) == 0


def test_a_profiled_run_says_that_the_order_of_its_ops_may_be_another(tf, debugged, graph) -> None:
    """TensorFlow's trace delays ops: a variable that is read beside its update may be read behind it."""
    w = tf.get_variable("w", initializer=3.0)
    loss = tf.square(w)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, ProfileRun(), ProfileRun(), Detach())
        session.run([w, train])
        session.run(w)
    said = [any("Ops use w in no order" in note for note in end.run.notes) for end in front.ends]
    assert said == [True, False]


def test_nanoseconds_count_where_they_were_taken(tf) -> None:
    from tensorflow.core.framework import step_stats_pb2

    stats = step_stats_pb2.StepStats()
    device = stats.dev_stats.add(device="/device:CPU:0")
    device.node_stats.add(
        node_name="b", all_start_micros=12, op_start_rel_micros=1, op_end_rel_micros=4, all_end_rel_micros=6,
        timeline_label="b = Relu(a)",
    )  # fmt: skip
    device.node_stats.add(
        node_name="a", all_start_micros=10, all_start_nanos=10500, op_start_rel_nanos=500, op_end_rel_nanos=1750,
        all_end_rel_nanos=2000,
    )  # fmt: skip
    stream = stats.dev_stats.add(device="/device:GPU:0/stream:all")
    stream.node_stats.add(node_name="a:Exp", all_start_micros=11, op_end_rel_micros=1, all_end_rel_micros=1)
    profile = profile_of(stats, Graph([Node("a", "Exp", "")]))
    found = [(t.node, t.op_type, t.start_us, t.op_us, t.exec_us) for t in profile.times]
    assert found == [("a", "Exp", 0.0, 1.25, 2.0), ("a", "Exp", 0.5, 1.0, 1.0), ("b", "Relu", 1.5, 3.0, 6.0)]


def test_an_empty_profile(tf) -> None:
    from tensorflow.core.framework import step_stats_pb2

    assert profile_of(step_stats_pb2.StepStats(), Graph()).times == ()
