"""The private parts of TensorFlow that compat.py relies on. A failure here names the part that changed."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture import compat

pytestmark = pytest.mark.tf


def test_the_base_of_sessions_defines_what_is_replaced(tf) -> None:
    base = compat.plain_base()
    assert issubclass(tf.Session, base)
    assert issubclass(tf.InteractiveSession, base)
    assert {"run", "make_callable", "as_default", compat.FROM_OPTIONS} <= set(vars(base))


def test_the_base_of_monitored_sessions_defines_what_is_replaced(tf) -> None:
    base = compat.monitored_base()
    assert issubclass(tf.train.MonitoredSession, base)
    assert issubclass(tf.train.SingularMonitoredSession, base)
    assert {"__init__", "run", "run_step_fn", "close", "__exit__"} <= set(vars(base))


def test_a_monitored_session_has_a_raw_one_and_takes_a_hook(tf, graph) -> None:
    tf.constant(1.0)
    ended = []

    class Hook(tf.train.SessionRunHook):
        def end(self, session) -> None:
            ended.append(session)

    with tf.train.MonitoredSession() as monitored:
        raw = compat.raw_session_of(monitored)
        assert type(raw) is tf.Session
        compat.add_hook(monitored, Hook())
    assert ended == [raw]
    assert compat.raw_session_of(monitored) is None


def test_a_monitored_session_marks_the_callers_fetches(tf, graph) -> None:
    y = tf.constant(1.0)
    seen = []
    with tf.train.MonitoredSession() as monitored:
        raw = compat.raw_session_of(monitored)
        original = raw.run
        raw.run = lambda fetches, **keywords: seen.append(fetches) or original(fetches, **keywords)
        monitored.run(y)
    assert compat.is_hooked_run(seen[0])
    assert not compat.is_hooked_run({"loss": y})
    assert not compat.is_hooked_run([y])


def test_a_runner_is_made_from_options(tf, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    y = tf.constant(1.0, name="y")
    with tf.Session() as raw:
        runner = compat.maker_from_options(raw)(config_pb2.CallableOptions(fetch=[y.name]))
        assert runner() == [1.0]
        del runner


def test_a_wildcard_watch_dumps_everything_beside_another_watch(tf, graph, tmp_path) -> None:
    from tfdbg_cli.capture.runtime_graph import _NO_NODE
    from tfdbg_cli.capture.watching import add_debug_tensor_watch

    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.exp(x, name="y")
    options = tf.RunOptions()
    for node, slot in (("*", -1), _NO_NODE):
        add_debug_tensor_watch(options, node, slot, debug_urls=f"file://{tmp_path}")
    with tf.Session() as raw:
        raw.run(y, {x: 1.0}, options=options)
    names = {path.name.split("_DebugIdentity")[0] for path in tmp_path.rglob("*_DebugIdentity_*")}
    assert {"y_0", "_arg_x_0_0_0"} <= names


def test_functions_are_read_added_run_and_removed_by_name(tf) -> None:
    concrete = tf.function(lambda x: tf.sin(x) + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    definition = compat.function_definition(atomic.name.decode())
    assert definition.node_def[0].op == "Sin"
    definition.signature.name = "of_test_compat"
    compat.add_function(definition)
    with tf.init_scope():
        (found,) = compat.run_function("of_test_compat", [tf.constant(0.0)], 1)
    assert float(found) == 1.0
    compat.remove_function("of_test_compat")
    assert compat.function_definition("of_test_compat") is None


def test_an_op_has_a_definition() -> None:
    assert [arg.name for arg in compat.op_definition("TopKV2").output_arg] == ["values", "indices"]
    assert compat.op_definition("no such op") is None


def test_a_graph_function_knows_its_graph_and_its_children(tf) -> None:
    inner = tf.function(lambda x: tf.sin(x))
    concrete = tf.function(lambda x: inner(x) + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    assert compat.built_graph_of(atomic) is concrete.graph
    (child,) = atomic.children
    assert [op.type for op in compat.built_graph_of(child).get_operations()][1] == "Sin"


def test_errors_get_the_words_of_a_function(tf) -> None:
    @tf.function
    def sine(x):
        return tf.sin(x)

    concrete = sine.get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    name = atomic.name.decode()
    message = f"{{{{function_node {name}}}}} bad thing [[{{{{node Sin}}}}]]"
    error = tf.errors.InvalidArgumentError(None, None, "other")
    compat.set_error_message(error, message)
    assert error.message == message
    with pytest.raises(tf.errors.InvalidArgumentError, match="Detected at node Sin"), compat.worded_as(atomic):
        raise error
