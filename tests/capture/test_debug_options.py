"""Watches are the same that TensorFlow's own functions make."""

from __future__ import annotations

import inspect

import pytest

from tfdbg_cli.capture import debug_options as watching
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options

pytestmark = pytest.mark.tf


@pytest.fixture
def peer(tf):
    from tensorflow.python.debug.lib import debug_utils

    return debug_utils


@pytest.fixture
def model(tf, graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.split(tf.log(x, name="log"), 2, name="parts")
    tf.cast(x, tf.int32, name="count")
    tf.no_op(name="nothing")
    tf.get_variable("ref", [2], use_resource=False)
    return graph


@pytest.mark.parametrize("name", ["add_debug_tensor_watch", "watch_graph", "watch_graph_with_denylists"])
def test_arguments_are_those_of_tensorflow(peer, name) -> None:
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (watching, peer))
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]


ALLOWED = [
    {},
    {"node_name_regex_allowlist": "log"},
    {"node_name_regex_allowlist": "og"},
    {"op_type_regex_allowlist": "(Log|Split)"},
    {"tensor_dtype_regex_allowlist": "float32$"},
    {"tensor_dtype_regex_allowlist": ".*ref"},
    {"node_name_regex_allowlist": ".*", "op_type_regex_allowlist": "Cast", "tensor_dtype_regex_allowlist": "int.*"},
    {"debug_ops": ["DebugIdentity", "DebugNanCount"], "global_step": 7, "reset_disk_byte_usage": True},
    {"debug_urls": ["file:///a", "grpc://h:1"], "tolerate_debug_op_creation_failures": True},
]


@pytest.mark.parametrize("arguments", ALLOWED, ids=str)
def test_watch_graph(tf, peer, model, arguments) -> None:
    arguments = {"debug_urls": "file:///tmp/dump"} | arguments
    ours, theirs = tf.RunOptions(), tf.RunOptions()
    watching.watch_graph(ours, model, **arguments)
    peer.watch_graph(theirs, model, **arguments)
    assert ours == theirs


@pytest.mark.parametrize("arguments", ALLOWED, ids=str)
def test_watch_graph_with_denylists(tf, peer, model, arguments) -> None:
    arguments = {name.replace("allow", "deny"): value for name, value in arguments.items()}
    ours, theirs = tf.RunOptions(), tf.RunOptions()
    watching.watch_graph_with_denylists(ours, model, **arguments)
    peer.watch_graph_with_denylists(theirs, model, **arguments)
    assert ours.debug_options == theirs.debug_options


@pytest.mark.parametrize("arguments", [("a",), ("a", 2, "DebugNanCount", "file:///x", True, 3), ("a", 1, ["A", "B"])])
def test_add_debug_tensor_watch(tf, peer, arguments) -> None:
    ours, theirs = tf.RunOptions(), tf.RunOptions()
    watching.add_debug_tensor_watch(ours, *arguments)
    peer.add_debug_tensor_watch(theirs, *arguments)
    assert ours == theirs


@pytest.mark.parametrize("wrong", [{"debug_ops": []}, {"debug_urls": None}, {"debug_urls": []}])
def test_an_empty_choice_is_refused(tf, model, wrong) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        watching.watch_graph(tf.RunOptions(), model, **({"debug_urls": "file:///x"} | wrong))


def test_watch_options_have_the_arguments_of_tensorflow(tf) -> None:
    from tensorflow.python.debug.wrappers import framework

    ours, theirs = (inspect.signature(kind).parameters for kind in (WatchOptions, framework.WatchOptions))
    assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]
    assert vars(WatchOptions()) == vars(framework.WatchOptions())
    assert watch_options(framework.WatchOptions("A", "n", "t", "d", True)) == WatchOptions("A", "n", "t", "d", True)


def test_what_a_watch_fn_may_answer() -> None:
    options = WatchOptions("DebugNanCount", "n")
    assert watch_options(options) is options
    assert watch_options(("DebugNanCount", "n")) == options
    with pytest.raises(TypeError, match="must return a WatchOptions, not dict"):
        watch_options({})
