"""Graphs of many kinds: debugged runs give the same results, bit for bit, and show the values in them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.launched import python
from support.libraries import library

from tfdbg_cli.model.decision import (
    CaptureRequest,
    Continue,
    DebugRun,
    Detach,
    GraphChoice,
    PlainRun,
    RunUntil,
    Values,
)
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.values import Lack, NoValue

pytestmark = pytest.mark.tf

RUNTIME = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))
PYTHON = DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))
WATCH = RunUntil("has_inf_or_nan")


def values(run, node: str) -> list:
    return [np.asarray(run.tensors.value(index)).tolist() for index in run.tensors.named(node, 0)]


def mobile_net(tf, tf_keras):
    """MobileNet with a training step; weights are loaded, so that every session begins alike."""
    with tf.Graph().as_default() as graph:
        tf_keras.backend.set_learning_phase(1)
        net = tf_keras.applications.MobileNet((32, 32, 3), alpha=0.25, dropout=0, weights=None, classes=10)
        labels = tf.placeholder(tf.int32, [None])
        loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.log(net.output + 1e-6))
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
        variables = tf.global_variables()
        places = [tf.placeholder(variable.dtype.base_dtype, variable.shape) for variable in variables]
        load = tf.group(*map(tf.assign, variables, places))
    rng = np.random.default_rng(0)
    weights = {
        place: np.ones(place.shape, np.float32)
        if "gamma" in variable.name or "variance" in variable.name
        else np.zeros(place.shape, place.dtype.as_numpy_dtype)
        if "Momentum" in variable.name or "step" in variable.name
        else rng.normal(0, 0.1, place.shape).astype(np.float32)
        for place, variable in zip(places, variables, strict=True)
    }
    feed = {net.input: rng.normal(size=(4, 32, 32, 3)).astype(np.float32), labels: rng.integers(0, 10, 4)}
    return graph, (load, weights), [net.output, loss, train], feed


def test_mobile_net_trains_alike_under_every_kind_of_debugging(tf, debugged) -> None:
    tf_keras = library("tf_keras")
    graph, (load, weights), fetches, feed = mobile_net(tf, tf_keras)

    def trained(*script) -> tuple[list, list]:
        with tf.Session(graph=graph, config=tf.ConfigProto(intra_op_parallelism_threads=1)) as raw:
            raw.run(load, weights)
            session, front = debugged(raw, *script)
            return [session.run(fetches, feed)[:2] for _ in range(4)], front.stops

    plain, _ = trained(Detach())
    assert np.isfinite(plain[-1][1])
    assert not np.array_equal(plain[0][0], plain[1][0]), "nothing was trained"
    for script in ([RUNTIME, PYTHON, PlainRun(), RUNTIME], [WATCH]):
        results, stops = trained(*script)
        for ours, theirs in zip(results, plain, strict=True):
            np.testing.assert_array_equal(ours[0], theirs[0])
            np.testing.assert_array_equal(ours[1], theirs[1])
        if script[0] is RUNTIME:
            assert len(stops[1].run.tensors) > 1000
            assert len(stops[2].run.tensors) > 1000


def squares(tf):
    """0² … 4² summed by a while loop."""
    _, total = tf.while_loop(
        lambda i, total: i < 5,
        lambda i, total: (i + 1, tf.add(total, i * i, name="sum")),
        [tf.constant(0), tf.constant(0)],
        name="loop",
    )
    return tf.identity(total, name="total")


@pytest.mark.parametrize("decision", [RUNTIME, PYTHON, WATCH], ids=["runtime", "python", "watch"])
def test_a_while_loop_of_version_1(tf, debugged, graph, loops_of_v1, decision) -> None:
    total = squares(tf)
    assert "Enter" in {op.type for op in graph.get_operations()}
    with tf.Session() as raw:
        session, front = debugged(raw, decision, Detach())
        assert session.run(total) == 30
        if decision is WATCH:
            return
    run = front.ends[0].run
    if decision is RUNTIME:
        assert values(run, "loop/sum") == [0, 1, 5, 14, 30], "each iteration"
        assert [run.tensors[index].execution for index in run.tensors.named("loop/sum")] == [0, 1, 2, 3, 4]
    else:
        assert values(run, "loop/sum") == [0, 1, 5, 14, 30], "made again, it can be dumped"
        assert values(run, "total") == [30]
        assert run.exactness.exact


def test_a_while_loop_of_version_1_whose_values_are_kept(tf, debugged, graph, loops_of_v1) -> None:
    total = squares(tf)
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(PYTHON.capture, values=Values.KEEP), Detach())
        assert session.run(total) == 30
    run = front.ends[0].run
    assert values(run, "loop/sum") == []
    assert values(run, "total") == [30]
    assert any("in loops and branches cannot be fetched" in note for note in run.notes)
    assert "`--keep` or `--values keep` asks for it" in run.exactness.doubt


def test_a_watch_sees_into_a_loop_of_version_1(tf, debugged, graph, loops_of_v1) -> None:
    x = tf.placeholder(tf.float32, [])
    out = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.log(v, name="log")), [0, x], name="loop")[1]
    finite = tf.where(tf.is_finite(out), out, tf.zeros_like(out))
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(finite, {x: 1e10})
        session.run(finite, {x: -1.0})
    (end,) = front.ends
    assert end.hit.runs == 2
    assert end.run.graph.kind is GraphKind.PYTHON
    first, *later = values(end.run, "loop/log")
    assert len(later) == 2
    assert np.isnan(first)


@pytest.mark.parametrize("decision", [RUNTIME, PYTHON, WATCH], ids=["runtime", "python", "watch"])
def test_a_while_loop_of_version_2(tf, debugged, graph, decision) -> None:
    tf.enable_control_flow_v2()
    total = squares(tf)
    assert "StatelessWhile" in {op.type for op in graph.get_operations()}
    with tf.Session() as raw:
        session, front = debugged(raw, decision, Detach())
        assert session.run(total) == 30
    if decision is PYTHON:
        assert values(front.ends[0].run, "total") == [30]


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("decision", [RUNTIME, PYTHON], ids=["runtime", "python"])
@pytest.mark.parametrize("imported", [False, True], ids=["built", "imported"])
def test_a_branch_of_version_1_that_is_not_taken(tf, debugged, loops_of_v1, taken, decision, imported) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        inner = lambda: tf.cond(x > 5.0, lambda: tf.exp(x, name="deep"), lambda: x)  # noqa: E731
        y = tf.cond(x > 0.0, lambda: inner() + tf.constant(1.0, name="one"), lambda: tf.negative(x, name="minus"))
        tf.add(y, 1.0, name="after")
    if imported:
        # An imported graph forgets which ops may not be fetched.
        definition = graph.as_graph_def()
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
    with tf.Session(graph=graph) as raw:
        session, front = debugged(raw, decision, Detach())
        result = session.run("after:0", {"x:0": 3.0 if taken else -3.0})
    assert result == (5.0 if taken else 4.0)
    run = front.ends[0].run
    assert values(run, "after") == [result]
    if decision is RUNTIME:
        assert any(name.endswith("minus") for name in run.tensors.nodes()) is not taken


def test_gradients_through_loops_and_branches_of_version_1(tf, debugged, graph, loops_of_v1) -> None:
    x = tf.Variable(1.5)
    looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, tf.constant(1.0)])[1]
    y = tf.cond(looped > 1.0, lambda: looped * looped, lambda: looped)
    (slope,) = tf.gradients(y, [x])
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        expected = raw.run([y, slope])
        session, front = debugged(raw, RUNTIME, PYTHON, Detach())
        for _ in range(2):
            assert session.run([y, slope]) == expected
    assert len(front.ends) == 2


def test_every_dtype_and_every_handle(tf, debugged, graph) -> None:
    kinds = [tf.float16, tf.bfloat16, tf.float64, tf.complex64, tf.bool, tf.int8, tf.uint64, tf.string]
    parts = [tf.identity(tf.constant(["a"]) if k is tf.string else tf.cast([1.0], k), name=k.name) for k in kinds]
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    reference = tf.get_variable("ref", initializer=2.0, use_resource=False)
    shape = tf.constant([], tf.int32)
    table = tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=tf.float32, name="list")
    empty = tf.zeros([0, 3], name="empty")
    fetches = [*parts, variable + reference, tf.raw_ops.TensorListLength(input_handle=table), empty]
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        expected = raw.run(fetches)
        session, front = debugged(raw, PYTHON, RUNTIME, Detach())
        for _ in range(2):
            np.testing.assert_equal(session.run(fetches), expected)
    run = front.ends[0].run
    for kind, value in zip(kinds, expected, strict=False):
        (index,) = run.tensors.named(kind.name, 0)
        np.testing.assert_equal(run.tensors.value(index), value)
        assert run.tensors[index].dtype == kind.name
    for opaque in ("v", "list"):
        (index,) = run.tensors.named(opaque, 0)
        found = run.tensors.value(index)
        assert isinstance(found, NoValue)
        assert found.lack is Lack.OPAQUE
    assert run.tensors.value(run.tensors.named("ref")[0]) == 2.0, "what the variable held"
    (index,) = run.tensors.named("empty", 0)
    assert run.tensors[index].shape == (0, 3)


def test_the_python_graph_is_in_the_order_of_its_edges(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.control_dependencies([tf.identity(x, name="first")]):
        y = tf.sqrt(tf.square(x, name="b"), name="a")
    with tf.Session() as raw:
        session, front = debugged(raw, PYTHON, Detach())
        session.run(y, {x: 2.0})
    run = front.ends[0].run
    names = [run.tensors[index].node for index in range(len(run.tensors))]
    assert names == ["x", "first", "b", "a"] or names == ["x", "b", "first", "a"]
    assert run.tensors[0].time_us is None
    assert values(run, "x") == [2.0], "what was fed is shown"


def test_what_is_fed_needs_nothing_before_it(tf, debugged, graph) -> None:
    never = tf.raw_ops.Abort(error_msg="computed though fed", exit_without_error=False)
    with tf.control_dependencies([never]):
        middle = tf.identity(tf.constant(1.0), name="middle")
    y = middle + 1.0
    with tf.Session() as raw:
        session, front = debugged(raw, PYTHON, Detach())
        assert session.run(y, {middle: 5.0}) == 6.0
    assert values(front.ends[0].run, "middle") == [5.0]


@pytest.mark.parametrize("choice", [GraphChoice.RUNTIME, GraphChoice.PYTHON])
@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (CaptureRequest(node_name_filter="og"), {"scope/log"}),
        (CaptureRequest(op_type_filter="^(Log|Exp)$"), {"scope/log", "exp"}),
        (CaptureRequest(tensor_dtype_filter="int"), {"count"}),
        (CaptureRequest(node_name_filter="o", op_type_filter="Log"), {"scope/log"}),
    ],
)
def test_filters_search_anywhere_and_are_all_needed(tf, debugged, graph, choice, request_, expected) -> None:
    """TensorFlow's tfdbg: regexes were anchored at the start, so `og` did not find `logy`."""
    x = tf.placeholder(tf.float32, [2], name="x")
    fetches = [
        tf.log(x, name="scope/log"), tf.exp(x, name="exp"),
        tf.cast(x, tf.int32, name="count"), tf.sqrt(x, name="root"),
    ]  # fmt: skip
    request = CaptureRequest(
        request_.node_name_filter, request_.op_type_filter, request_.tensor_dtype_filter, graph=choice
    )
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(request), Detach())
        session.run(fetches, {x: [1.0, 2.0]})
    assert set(front.ends[0].run.tensors.nodes()) == expected


def test_queue_runners_feed_a_debugged_session(tf, debugged, graph) -> None:
    """tensorflow#11017, #12545: with queue runners the coordinator stopped at once, or the prompt never came."""
    (value,) = tf.train.slice_input_producer([tf.constant([1.0, 2.0, 3.0])], shuffle=False, num_epochs=1)
    batch = tf.train.batch([value], 1)
    session, front = debugged(tf.Session(), PlainRun(), RUNTIME, PYTHON, Continue())
    with session:
        session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.append(session.run(batch)[0])
        coordinator.request_stop()
        coordinator.join(threads)
    assert seen == [1.0, 2.0, 3.0]
    assert front.path[:4] == ["start 1", "start 2", "end 2", "end 3"] or len(front.ends) >= 2


def test_two_devices() -> None:
    program = """
import sys
sys.path += sys.argv[1:]
import numpy as np, tensorflow.compat.v1 as tf
import tensorflow as tf2
from support.scripted import ScriptedFrontend
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import *
cpu = tf2.config.list_physical_devices("CPU")[0]
tf2.config.set_logical_device_configuration(cpu, [tf2.config.LogicalDeviceConfiguration()] * 2)
with tf.Graph().as_default():
    with tf.device("/CPU:0"):
        x = tf.placeholder(tf.float32, [2], name="x"); a = tf.exp(x, name="a")
    with tf.device("/CPU:1"):
        b = tf.log(a, name="b")
    with tf.device("/CPU:0"):
        c = tf.add(a, b, name="c")
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as raw:
        expected = raw.run(c, {x: [1, 2]})
        requests = [DebugRun(CaptureRequest(graph=choice)) for choice in (GraphChoice.RUNTIME, GraphChoice.PYTHON)]
        front = ScriptedFrontend(*requests, Detach())
        session = DebuggedSession(raw, Debugger(lambda: front))
        devices = []
        for _ in requests:
            np.testing.assert_array_equal(session.run(c, {x: [1, 2]}), expected)
        for end in front.ends:
            run = end.run
            devices.append({run.tensors[i].node: run.tensors[i].device[-5:] for i in range(len(run.tensors))})
            assert "unknown" not in str(run.notes)
print(devices[0]["a"], devices[0]["b"], devices[1]["a"], devices[1]["b"])
"""
    result = python("-c", program, *sys.path)
    assert result.stdout.split() == ["CPU:0", "CPU:1"] * 2, result.stderr[-2000:]


@pytest.mark.parametrize("decision", [PYTHON, WATCH, RunUntil("has_inf_or_nan", values=Values.KEEP)])
def test_a_normalization_that_tensorflow_fuses_away_fails_in_no_debugged_run(tf, debugged, decision) -> None:
    """TensorFlow's remapper fuses it though an output of it is fetched, and then misses that output."""
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, [2, 8, 8, 3])
        made = tf.nn.conv2d(image, tf.constant(np.full((3, 3, 3, 4), 0.5, np.float32)), 1, "SAME")
        made, _, _ = tf.nn.fused_batch_norm(made, [1.0] * 4, [0.0] * 4, [0.0] * 4, [1.0] * 4, is_training=False)
        end = tf.nn.relu(made)
    feed = {image: np.ones((2, 8, 8, 3), np.float32)}
    with tf.Session(graph=graph) as raw:
        expected = raw.run(end, feed)
        session, front = debugged(raw, decision)
        np.testing.assert_allclose(session.run(end, feed), expected, rtol=1e-6)
    if decision is PYTHON:
        (stop,) = front.ends
        assert any("fused" in note for note in stop.run.notes)
        assert stop.run.tensors.named(made.op.name, 0)
