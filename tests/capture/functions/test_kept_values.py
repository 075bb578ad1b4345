"""The values that stand under their names after the optimizer."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.kept_values import KeptValues
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
