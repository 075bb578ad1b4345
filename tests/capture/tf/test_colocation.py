"""What a node is placed beside, where nodes are copied."""

from __future__ import annotations

import contextlib

import tensorflow as tf

from tfdbg_cli.capture.tf import colocation


def _node(*beside: str) -> tf.compat.v1.NodeDef:
    """A node as TensorFlow writes it, placed beside those of these names."""
    with tf.Graph().as_default(), contextlib.ExitStack() as stack:
        for op in [tf.no_op(name) for name in beside]:
            stack.enter_context(tf.compat.v1.colocate_with(op))
        return tf.no_op("node").node_def


def _beside(node: tf.compat.v1.NodeDef) -> list[bytes] | None:
    return list(node.attr[colocation.ATTRIBUTE].list.s) if colocation.ATTRIBUTE in node.attr else None


def test_it_is_forgotten() -> None:
    node = _node("a")
    assert _beside(node) == [b"loc:@a"]
    colocation.forget(node)
    assert _beside(node) is None
    colocation.forget(node)


def test_it_is_named_anew_and_what_is_not_there_is_left_out() -> None:
    node = _node("a", "b")
    colocation.rename(node, {"a": "copy/a"}.get)
    assert _beside(node) == [b"loc:@copy/a"]


def test_nothing_is_left_of_it_where_none_is_there() -> None:
    node = _node("a", "b")
    colocation.rename(node, lambda _: None)
    assert _beside(node) is None
    colocation.rename(node, str.upper)
    assert _beside(node) is None


def test_another_attribute_is_made_of_it() -> None:
    node = _node("a", "b")
    assert list(colocation.renamed(node.attr[colocation.ATTRIBUTE], str.upper).list.s) == [b"loc:@A", b"loc:@B"]
    assert _beside(node) == [b"loc:@a", b"loc:@b"]
