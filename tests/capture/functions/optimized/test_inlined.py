"""Functions with their plain calls inlined as TensorFlow's runtime does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Body, Library
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.functions.optimized.inlined import inlined
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.ops.kinds import PLAIN_CALLS

pytestmark = pytest.mark.tf


def _step(weight: Any, count: Any) -> Any:
    """Two levels of calls, the inner one called twice, that read a variable before and after it is changed."""

    @tf.function
    def layer(x: Any, factor: Any) -> Any:
        count.assign_add(1.0)
        return tf.matmul(x, weight) * factor * count

    @tf.function
    def network(x: Any) -> Any:
        first = layer(x, tf.constant(2.0))
        return layer(tf.tanh(first), tf.constant(0.5)) + first

    @tf.function
    def step(x: Any) -> Any:
        before = count * 3.0
        found = network(x)
        weight.assign_sub(0.1 * tf.matmul(x, found, transpose_a=True))
        return tf.reduce_sum(found) + before, count + tf.reduce_sum(weight)

    return step


def test_it_gives_what_the_function_gives_and_no_call_is_left() -> None:
    start, x = tf.random.stateless_normal([4, 4], [1, 2]), tf.random.stateless_normal([3, 4], [3, 4])
    weight, count = tf.Variable(start), tf.Variable(0.0)
    concrete = _step(weight, count).get_concrete_function(x)
    whole = inlined(scope_of(concrete).body, Library().find).body
    assert not any(node.op in PLAIN_CALLS for node in whole.nodes.values())
    whole.definition.signature.name = "inlined_for_a_test"
    compat.add_function(whole.definition)
    found = []
    try:
        for call in (
            lambda: concrete(x),
            lambda: compat.run_function("inlined_for_a_test", [x, *concrete.captured_inputs], 2),
        ):
            weight.assign(start)
            count.assign(0.0)
            given = [value.numpy() for _ in range(5) for value in call()]
            found.append([*given, weight.numpy(), count.numpy()])
    finally:
        compat.remove_function("inlined_for_a_test")
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    assert found[1][-1] == 10.0


def test_nodes_have_the_names_that_the_runtime_gives_them() -> None:
    x = tf.ones([3, 4])
    weight, count = tf.Variable(tf.eye(4)), tf.Variable(0.0)
    concrete = _step(weight, count).get_concrete_function(x)
    function = TracedFunction(compat.atomic_of(concrete))
    plain = function.plain([x, *concrete.captured_inputs])
    assert plain is not None
    whole = inlined(function.root.body, Library().find)
    made = {node.name: node.op for node in plain.optimized if "Variable" in node.op}
    assert sum(op == "AssignAddVariableOp" for op in made.values()) == 2
    assert made.items() <= {name: node.op for name, node in whole.body.nodes.items()}.items()
    for name in made:
        body, own = whole.origins[name]
        assert name.endswith(own) and body.nodes[own].op == made[name]


def test_what_of_ours_waits_for_a_call_waits_for_all_its_side_effects() -> None:
    x = tf.ones([3, 4])
    weight, count = tf.Variable(tf.eye(4)), tf.Variable(0.0)
    root = scope_of(_step(weight, count).get_concrete_function(x))
    (call,) = (name for name, node in root.body.nodes.items() if node.op in PLAIN_CALLS)
    edit = Edit(root)
    ours = edit.add("tfdbg_ended", "NoOp", [f"^{call}"])
    whole = inlined(Body(edit.definition), Library().find).body
    (end,) = whole.nodes[ours.name].input
    waits = {text.removeprefix("^") for text in whole.nodes[end.removeprefix("^")].input}
    updates = {name for name, node in whole.nodes.items() if node.op == "AssignAddVariableOp"}
    assert len(updates) == 2 and updates <= waits


def test_a_function_without_calls_is_itself() -> None:
    root = scope_of(tf.function(lambda x: tf.exp(x)).get_concrete_function(tf.ones([2])))
    found = inlined(root.body, Library().find)
    assert found.body is root.body
    assert found.origins == {name: (root.body, name) for name in root.body.nodes}
