"""FunctionDefs read: outputs of nodes, what references mean, what is needed."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Body, Library, ReferenceTarget
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


def body_of(function, *arguments) -> Body:
    concrete = function.get_concrete_function(*arguments)
    body_of.kept.append(concrete)
    return Body(compat.function_definition(concrete.name.decode()))


body_of.kept = []


@tf.function
def several(x):
    values, indices = tf.math.top_k(x, 2)
    parts = tf.split(x, [1, 3])
    return values, indices, parts[1], tf.unique(x)[0]


def test_outputs_are_counted_through_numbered_and_listed_arguments() -> None:
    body = body_of(several, tf.ones(4))
    by_type = {node.op: node.name for node in body.nodes.values()}
    assert [output.dtype for output in body.outputs(by_type["TopKV2"])] == [1, 3]
    assert [output.reference.split(":", 1)[1] for output in body.outputs(by_type["SplitV"])] == [
        "output:0",
        "output:1",
    ]
    assert body.source(f"{by_type['TopKV2']}:indices:0") == ReferenceTarget(by_type["TopKV2"], 1)
    assert body.source(f"{by_type['SplitV']}:output:1") == ReferenceTarget(by_type["SplitV"], 1)
    assert body.source(body.arguments[0]) == ReferenceTarget(None, 0)
    assert all(output.returnable for node in body.nodes for output in body.outputs(node))


def test_only_what_an_output_needs_is_needed() -> None:
    body = body_of(several, tf.ones(4))
    types = {node.op for node in body.needed([0]).nodes}
    assert "TopKV2" in types
    assert not {"SplitV", "Unique"} & types
    everything = body.needed(range(4))
    assert {"TopKV2", "SplitV", "Unique"} <= {node.op for node in everything.nodes}
    assert everything.slots[next(n.name for n in everything.nodes if n.op == "SplitV")] == {1}
    assert not everything.hidden


def test_side_effects_are_needed_and_inputs_come_first() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(tf.sin(x))
        return x

    body = body_of(f, tf.constant(1.0))
    order = [node.name for node in body.needed([]).nodes]
    assert order.index("Sin") < order.index("AssignVariableOp")
    order = [node.name for node in body.needed([0]).nodes]
    for node in body.needed([0]).nodes:
        for text in node.input:
            before = text.removeprefix("^").split(":")[0]
            assert before in body.arguments or order.index(before) < order.index(node.name)


def test_handles_are_not_returnable() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f():
        return tf.TensorArray(tf.float32, 1).write(0, v).stack()

    body = body_of(f)
    kinds = {output.dtype: output.returnable for node in body.nodes for output in body.outputs(node)}
    assert kinds[tf.variant.as_datatype_enum] is False
    assert kinds[tf.float32.as_datatype_enum] is True


def test_functions_without_fixed_types_are_not_read() -> None:
    assert Library().find("no such function") is None
    concrete = several.get_concrete_function(tf.ones(4))
    library = Library()
    found = library.find(concrete.name.decode())
    assert found is library.find(concrete.name.decode())
    definition = compat.function_definition(concrete.name.decode())
    definition.signature.output_arg[0].number_attr = "N"
    assert Body(definition).plain is False
