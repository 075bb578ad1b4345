"""Our DebugDumpDir beside TensorFlow's own: on dumps that TensorFlow made, and on those that tfdbg made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.launched import python

import tfdbg_cli as tf_debug
from tfdbg_cli.debug_data import InconvertibleTensorProto
from tfdbg_cli.debug_data.reference_ops import gives_reference

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf():
    import tensorflow.compat.v1 as tf

    return tf


def build(tf):
    """A session that is ready, what it runs, and its feeds: a loop, a condition, variables of both kinds."""
    x = tf.placeholder(tf.float32, [None], name="x")
    old = tf.get_variable("old", [], initializer=tf.ones_initializer(), use_resource=False)
    new = tf.get_variable("new", [], initializer=tf.ones_initializer(), use_resource=True)
    loop = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * old), [0, tf.reduce_sum(x)], name="loop")
    either = tf.cond(loop[1] > 0, lambda: tf.log(loop[1] - loop[1]), lambda: new * 2.0, name="either")
    with tf.control_dependencies([either]):
        step = tf.group(old.assign_add(1.0), new.assign_sub(1.0), name="step")
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, {"loss": either, "step": step}, {x: np.ones(2, np.float32)}


def dumped_by_tensorflow(tf, root):
    wrapper = pytest.importorskip("tensorflow.python.debug.wrappers.dumping_wrapper")
    return wrapper.DumpingDebugWrapperSession, {"pass_through_operrors": True}


def dumped_by_us(tf, root):
    return tf_debug.DumpingDebugWrapperSession, {}


_DUMP = """
import sys
sys.path[:0] = sys.argv[3:]
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
import test_beside_tensorflow as tests
session, fetches, feeds = tests.build(tf)
wrapper, arguments = getattr(tests, sys.argv[1])(tf, sys.argv[2])
wrapper(session, sys.argv[2], **arguments).run(fetches, feeds)
"""


@pytest.fixture(scope="module", params=[dumped_by_tensorflow, dumped_by_us])
def pair(tf, request, tmp_path_factory):
    """The same dump read by TensorFlow's class and by ours, and the graph that was run."""
    theirs = pytest.importorskip("tensorflow.python.debug.lib.debug_data")
    root = tmp_path_factory.mktemp(request.param.__name__) / "session"
    # In a process of its own, so that nothing which other tests did to this one is dumped, too.
    done = python("-c", _DUMP, request.param.__name__, root, *Path(__file__).parents[:2])
    assert done.returncode == 0, done.stderr
    (run,) = root.iterdir()
    with tf.Graph().as_default() as graph:
        build(tf)[0].close()
    return theirs.DebugDumpDir(str(run)), tf_debug.DebugDumpDir(str(run)), graph


def test_the_tensors_are_the_same(pair) -> None:
    theirs, ours, _ = pair
    assert (ours.size, ours.t0, ours.devices()) == (theirs.size, theirs.t0, theirs.devices())
    ours_by_path = {datum.file_path: datum for datum in ours.dumped_tensor_data}
    assert len(ours_by_path) == theirs.size > 10
    for theirs_datum in theirs.dumped_tensor_data:
        datum = ours_by_path[theirs_datum.file_path]
        for name in (
            "node_name", "output_slot", "debug_op", "device_name", "timestamp", "extended_timestamp", "watch_key",
            "tensor_name", "dump_size_bytes",
        ):  # fmt: skip
            assert getattr(datum, name) == getattr(theirs_datum, name)
        assert str(datum) == str(theirs_datum)
        value, their_value = datum.get_tensor(), theirs_datum.get_tensor()
        if isinstance(value, InconvertibleTensorProto):
            assert type(their_value).__name__ == "InconvertibleTensorProto"
        else:
            assert (value.dtype, value.shape) == (their_value.dtype, their_value.shape)
            np.testing.assert_array_equal(value, their_value)


def test_the_questions_of_tensors_are_answered_the_same(pair) -> None:
    theirs, ours, _ = pair
    bad = [{datum.watch_key for datum in dump.find(tf_debug.has_inf_or_nan)} for dump in (ours, theirs)]
    assert bad[0] == bad[1] != set()
    for datum in theirs.dumped_tensor_data:
        question = datum.node_name, datum.output_slot, datum.debug_op
        assert sorted(ours.get_rel_timestamps(*question)) == sorted(theirs.get_rel_timestamps(*question))
        assert sorted(ours.get_tensor_file_paths(*question)) == sorted(theirs.get_tensor_file_paths(*question))
        assert sorted(ours.get_dump_sizes_bytes(*question)) == sorted(theirs.get_dump_sizes_bytes(*question))
        assert sorted(ours.debug_watch_keys(datum.node_name)) == sorted(theirs.debug_watch_keys(datum.node_name))
        assert len(ours.watch_key_to_data(datum.watch_key)) == len(theirs.watch_key_to_data(datum.watch_key))


def test_the_graphs_are_the_same(pair) -> None:
    theirs, ours, _ = pair
    copies = [name for name in theirs.nodes() if name.startswith("__copy_")]
    assert copies == []
    assert sorted(ours.nodes()) == sorted(theirs.nodes())
    for name in ours.nodes():
        assert ours.node_op_type(name) == theirs.node_op_type(name)
        assert ours.node_inputs(name) == theirs.node_inputs(name)
        assert sorted(ours.node_recipients(name)) == sorted(theirs.node_recipients(name))
        assert sorted(ours.node_recipients(name, True)) == sorted(theirs.node_recipients(name, True))
        assert ours.node_device(name) == theirs.node_device(name)
        assert ours.node_exists(name)
        assert set(ours.node_attributes(name)) == set(theirs.node_attributes(name))
        theirs_control = [text for text in theirs.node_inputs(name, True) if not text.startswith("__copy_")]
        assert set(theirs_control) <= set(ours.node_inputs(name, True))


def test_metadata_is_the_same(pair) -> None:
    theirs, ours, _ = pair
    assert tuple(ours.core_metadata) == tuple(theirs.core_metadata)
    assert ours.core_metadata._fields == theirs.core_metadata._fields
    assert ours.run_fetches_info == theirs.run_fetches_info
    assert ours.run_feed_keys_info == theirs.run_feed_keys_info


def test_graphs_are_messages_that_tensorflow_takes(tf, pair) -> None:
    theirs, ours, _ = pair
    (plain,) = ours.reconstructed_non_debug_partition_graphs().values()
    assert isinstance(plain, tf.GraphDef)
    assert [node.name for node in plain.node] == [
        node.name for graph in theirs.reconstructed_non_debug_partition_graphs().values() for node in graph.node
    ]
    (decorated,) = ours.partition_graphs()
    assert tf_debug.reconstruct_non_debug_graph_def(decorated) == plain


def test_tracebacks(pair) -> None:
    theirs, ours, graph = pair
    theirs.set_python_graph(graph)
    ours.set_python_graph(graph)
    assert ours.node_traceback("x:0") == theirs.node_traceback("x:0")
    assert ours.python_graph is graph


def test_our_own_dumps_know_tracebacks_without_the_graph(tf, tmp_path) -> None:
    with tf.Graph().as_default():
        session, fetches, feeds = build(tf)
        with session:
            tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root")).run(fetches, feeds)
    (run,) = (tmp_path / "root").iterdir()
    stack = tf_debug.DebugDumpDir(str(run)).node_traceback("x")
    assert any(
        file == __file__ and function == "build" and "placeholder" in text for file, _, function, text in stack
    )


def test_a_run_of_a_function_that_tfdbg_wrote(tmp_path) -> None:
    """Its tensors have an order and no times; a variable of a loop is read before the first turn writes it."""
    import tensorflow.compat.v2 as tf2

    @tf2.function
    def count(n):
        total = 1.0
        for _ in tf2.range(n):
            total = total * 2.0
        return tf2.math.log(total - total)

    try:
        tf_debug.record(str(tmp_path / "run"))
        count(tf2.constant(3))
    finally:
        tf_debug.disable()
    dump = tf_debug.DebugDumpDir(str(tmp_path / "run"))
    (bad, *_) = dump.find(tf_debug.has_inf_or_nan)
    assert dump.node_op_type(bad.node_name) == "Log"
    assert any(function == "count" for _, _, function, _ in dump.node_traceback(bad.node_name))
    assert all(dump.node_exists(datum.node_name) for datum in dump.dumped_tensor_data)


def test_every_method_and_attribute_is_there() -> None:
    debug_data = pytest.importorskip("tensorflow.python.debug.lib.debug_data")
    for theirs, ours in (
        (debug_data.DebugDumpDir, tf_debug.DebugDumpDir),
        (debug_data.DebugTensorDatum, tf_debug.DebugTensorDatum),
        (debug_data.InconvertibleTensorProto, InconvertibleTensorProto),
    ):
        public = {name for name in dir(theirs) if not name.startswith("_")}
        assert public
        assert public - set(dir(ours)) == set()


def test_the_ops_that_give_references_are_those_of_tensorflow() -> None:
    session_module = pytest.importorskip("tensorflow.python.client.pywrap_tf_session")
    from tensorflow.core.framework import op_def_pb2

    ops = op_def_pb2.OpList.FromString(session_module.TF_GetBuffer(session_module.TF_GetAllOpList()))
    test_ops = {"RefOut", "RefOutput", "RefOutputFloatOutput"}
    for op in ops.op:
        if op.name not in test_ops:
            found = [gives_reference(op.name, slot) for slot in range(len(op.output_arg))]
            assert found == [output.is_ref for output in op.output_arg], op.name
