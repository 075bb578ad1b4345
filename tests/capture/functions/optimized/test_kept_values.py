"""The values that stand under their names after the optimizer."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Body, ReferenceTarget
from tfdbg_cli.capture.functions.optimized.kept_values import KeptValues
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


def _without(removed: str, concrete: Any, inputs: list[Any]) -> tuple[Body, KeptValues]:
    """The function, and the values that it keeps once the optimizer has `removed` a node, too."""
    function = TracedFunction(compat.atomic_of(concrete))
    compiled = function.plain(inputs)
    assert compiled is not None
    nodes = [node for node in compiled.optimized if node.name != removed]
    assert len(nodes) == len(compiled.optimized) - 1
    plain = function.root.body
    left = type(plain.definition)()
    left.node_def.extend(node for node in nodes if node.op not in ("_Arg", "_Retval"))
    return plain, KeptValues(plain, Body(left), nodes)


def test_a_read_of_the_same_value_stands_for_one_that_was_removed() -> None:
    variable, other = tf.Variable(tf.eye(8)), tf.Variable(tf.eye(8))

    @tf.function
    def step(x: Any) -> Any:
        first = tf.matmul(x, variable)
        found = tf.matmul(first, variable) + tf.matmul(x, other)
        variable.assign(found)
        return found + tf.matmul(found, variable)

    x = tf.ones([8, 8])
    concrete = step.get_concrete_function(x)
    reads = {name: f"{name}/ReadVariableOp" for name in ("MatMul", "MatMul_1", "MatMul_2", "MatMul_3")}
    alike = {}
    for name, read in reads.items():
        plain, kept = _without(read, concrete, [x, *concrete.captured_inputs])
        alike[name] = kept.alike_read(plain.nodes[read])
    assert alike["MatMul_1"] == reads["MatMul"]
    assert alike["MatMul"] == reads["MatMul_1"]
    assert alike["MatMul_2"] == "", "it reads another variable"
    assert alike["MatMul_3"] == "", "it reads what was assigned"


def _gradient_of_a_convolution(x: Any) -> tuple[Any, list[Any], Any]:
    """A step that hands the gradient of a filter on through IdentityN, its inputs, and the variable to keep."""
    kernel = tf.Variable(tf.random.stateless_normal([3, 3, 2, 4], [1, 2]))

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 2])])
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.conv2d(x, kernel, 1, "SAME")))
        handed, other = tf.identity_n([tape.gradient(loss, kernel), loss])
        kernel.assign_sub(handed * 0.5)
        return other

    concrete = step.get_concrete_function()
    return concrete, [x, *concrete.captured_inputs], kernel


def test_what_is_told_a_shape_that_the_optimizer_knows_and_handed_on_by_several_stands_where_it_did() -> None:
    """A blind test: gradients of convolutions in a step of `fit` had no statistics, nor what is made of them."""
    concrete, inputs, kernel = _gradient_of_a_convolution(tf.ones([5, 8, 8, 2]))
    function = TracedFunction(compat.atomic_of(concrete))
    compiled = function.plain(inputs)
    assert compiled is not None and kernel is not None
    plain = function.root.body
    left = type(plain.definition)()
    left.node_def.extend(node for node in compiled.optimized if node.op not in ("_Arg", "_Retval"))
    kept = KeptValues(plain, Body(left), compiled.optimized)
    (gradient,) = (name for name, node in plain.nodes.items() if node.op == "Conv2DBackpropFilter")
    now = next(node for node in compiled.optimized if node.name == gradient)
    sizes = next(node for node in compiled.optimized if node.name == now.input[1])
    assert sizes.op == "Const" and plain.nodes[plain.source(plain.nodes[gradient].input[1]).node or ""].op == "ShapeN"
    assert ReferenceTarget(gradient, 0) in kept
    (handed,) = (name for name, node in plain.nodes.items() if node.op == "IdentityN")
    assert kept.origin(ReferenceTarget(handed, 0)) == ReferenceTarget(gradient, 0)
