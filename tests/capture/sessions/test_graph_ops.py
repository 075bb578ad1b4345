"""Ops of a tf.Graph as every graph shows them, and what is known of what a call is fed."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.checking.static_facts import FunctionOp
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.sessions.graph_ops import GraphOp, facts_of
from tfdbg_cli.ops.folding import UNREAD, Constant
from tfdbg_cli.ops.op_view import TensorKind

pytestmark = pytest.mark.tf


@pytest.fixture(name="graph")
def _graph():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 2), name="x")
        c = tf.constant(np.array([[1.0, -4.0]], "f"), name="c")
        product = tf.linalg.matmul(x, c, transpose_b=True, name="product")
        tf.nn.relu(product, name="relu")
    return graph


def _facts(graph, fed=()):
    ops = list(map(GraphOp, graph.get_operations()))
    facts = facts_of(ops, frozenset(fed))
    for op in ops:
        facts.learn(op)
    return facts


def test_an_op_is_seen_with_its_tensors(graph):
    op = GraphOp(graph.get_operation_by_name("product"))
    assert (op.op_type, op.is_stateful, op.calls_functions, op.array) == ("MatMul", False, False, None)
    assert (op.inputs, op.outputs) == (("x:0", "c:0"), ("product:0",))
    assert op.inputs_are == [TensorKind("float32", (None, 2)), TensorKind("float32", (1, 2))]
    assert op.outputs_are == [TensorKind("float32", (None, 1))]
    assert op.attribute("transpose_b") is True
    assert op.attribute("nobody has it") is None
    assert GraphOp(graph.get_operation_by_name("c")).array.tolist() == [[1.0, -4.0]]


def test_a_function_shows_its_ops_alike(graph):
    @tf.function(input_signature=[tf.TensorSpec((None, 2))])
    def product(x):
        return tf.linalg.matmul(x, tf.constant([[1.0, -4.0]]), transpose_b=True)

    scope = scope_of(product.get_concrete_function())
    (node,) = [node for node in scope.needed.nodes if node.op == "MatMul"]
    seen = GraphOp(graph.get_operation_by_name("product"))
    op = FunctionOp(scope, node, lambda name: {0: (None, 2)}.get(name.slot) if name.node == "x" else None)
    assert (op.op_type, op.is_stateful, op.calls_functions, op.array) == ("MatMul", False, False, None)
    assert [str(name) for name in (*op.inputs, *op.outputs)] == ["x:0", "Const:0", "MatMul:0"]
    assert [kind.dtype for kind in op.inputs_are] == [kind.dtype for kind in seen.inputs_are]
    assert op.inputs_are[0] == seen.inputs_are[0]
    assert op.attribute("transpose_b") is seen.attribute("transpose_b") is True


def test_what_nothing_is_fed_for_is_what_its_op_gives(graph):
    facts = _facts(graph)
    assert facts.constant("c:0") == Constant(1.0, 4.0)


def test_a_fed_placeholder_is_no_constant(graph):
    facts = _facts(graph, ["x:0"])
    assert facts.constant("x:0") is None
    assert facts.constant("product:0") is None
    assert facts.source("x:0") == "x:0"


def test_the_optimizer_may_take_a_fed_constant_for_the_constant_that_it_would_be(graph):
    facts = _facts(graph, ["c:0"])
    assert facts.constant("c:0") == UNREAD
    assert facts.source("c:0") == "Const"
