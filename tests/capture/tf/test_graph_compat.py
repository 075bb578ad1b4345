"""The private parts of a tf.Graph that graph_compat.py relies on. A failure here names the part that changed."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture.tf import base_classes, compat, graph_compat

pytestmark = pytest.mark.tf


def test_an_op_can_be_given_another_input(tf, graph) -> None:
    first, second = tf.constant(1.0), tf.constant(2.0)
    total = tf.add(first, first)
    graph_compat.replace_input(total.op, 1, second)
    assert [tensor.name for tensor in total.op.inputs] == [first.name, second.name]
    with tf.Session() as session:
        assert session.run(total) == 3


def test_hidden_ops_are_numbered_with_those_of_the_program_and_listed_nowhere(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    graph.finalize()
    definition = tf.GraphDef()
    definition.versions.CopyFrom(graph.graph_def_versions)
    node = definition.node.add(name="ours/one", op="IsFinite", input=["given", "^waited"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    before = graph.as_graph_def()
    graph_compat.hide_ops(graph, lambda name: name.startswith("ours/"))
    found = graph_compat.add_hidden_ops(graph, definition, {"given": y}, {"waited": x.op})
    assert [op.name for op in graph.get_operations()] == ["x", "y"]
    assert graph.as_graph_def() == before
    assert graph.finalized
    assert y.consumers() == [found["ours/one"]], "what TensorFlow counts by number is found"
    assert found["ours/one"].control_inputs == [x.op]
    with tf.Session() as raw:
        result = raw.run(found["ours/one"].outputs[0], {x: [1.0, 1e9]})
        assert result.tolist() == [True, False]
        assert compat.reader_of(raw, ["ours/one:0"]) is not None


def test_every_run_of_a_session_goes_through_one_method(tf, graph, monkeypatch) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x, name="y")
    base, original, seen = base_classes.plain_base(), getattr(base_classes.plain_base(), compat.RUN), []

    def run(session, options, feeds, outputs, c_ops, run_metadata):
        tensors, ops = graph_compat.run_elements(session.graph, outputs, c_ops)
        seen.append((tensors, ops))
        return original(session, options, feeds, *graph_compat.as_run_elements(tensors, ops), run_metadata)

    monkeypatch.setattr(base, compat.RUN, run)
    with tf.Session() as raw:
        assert raw.run([y, y.op], {x: 2.0})[0] == 2.0
        assert raw.make_callable(y, [x])(3.0) == 3.0
        assert raw.make_callable(tf.constant(4.0))() == 4.0
    (tensors, ops), *more = seen
    assert tensors == [y]
    assert [op.name for op in ops] == ["y"]
    assert len(more) == 2


def test_hidden_functions_are_exported_with_no_graph(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    called = tf.compat.v2.function(lambda value: value + 1.0, autograph=False)(x)
    (name,) = graph_compat.function_graphs(graph)
    assert [op.type for op in graph_compat.function_graphs(graph)[name].get_operations()].count("AddV2") == 1
    before = graph.as_graph_def(add_shapes=True)
    definition = tf.GraphDef(versions=graph.graph_def_versions)
    definition.library.function.add().CopyFrom(before.library.function[0])
    definition.library.function[0].signature.name = "hidden"
    node = definition.node.add(name="hidden/call", op=called.op.type, input=["given"])
    for key in called.op.node_def.attr:
        node.attr[key].CopyFrom(called.op.node_def.attr[key])
    node.attr["f"].func.name = "hidden"
    node.attr["_class"].list.s.append(b"loc:@x")  # a node that is there already
    graph_compat.hide_ops(graph, lambda name: name.startswith("hidden"))
    (op,) = graph_compat.add_hidden_ops(graph, definition, {"given": x}, {}).values()
    with tf.Session() as raw:
        assert raw.run(op.outputs[0], {x: 1.0}) == 2.0
    assert graph.as_graph_def(add_shapes=True) == before
    with pytest.raises(KeyError):
        graph._functions["no such function"]
