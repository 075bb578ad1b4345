"""The model of a function: names as in its runs, edges across calls, and where nodes were made."""

from __future__ import annotations

import inspect

import pytest
import tensorflow as tf
from support.instrumented_calls import made, names

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.capture.functions.graph.function_graph import function_graph, function_tracebacks
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.model.sources import user_frame

pytestmark = pytest.mark.tf


@tf.function
def shifted(x):
    return tf.nn.relu(x) + 1


@tf.function
def program(x, n):
    y = shifted(x)
    for _ in tf.range(n):
        if tf.reduce_sum(y) > 3:  # noqa: SIM108
            y = tf.tanh(y)
        else:
            y = shifted(y)
    return shifted(y)


@pytest.fixture(scope="module")
def concrete():
    return program.get_concrete_function(tf.ones([3]), tf.constant(3))


@pytest.fixture(scope="module")
def graph(concrete):
    return function_graph(concrete)


def inputs(graph, name: str) -> list[str]:
    return [str(tensor) for tensor in graph.node(name).inputs]


def test_every_tensor_of_a_run_is_of_a_node_and_every_edge_ends_at_one(graph) -> None:
    _, outcome = made(program, tf.ones([3]), tf.constant(3))
    for name in names(outcome):
        assert name.rpartition(":")[0] in graph
    for node in graph:
        assert all(tensor.node in graph for tensor in node.inputs), node
        assert all(name in graph for name in node.control_inputs), node
    assert len({node.name for node in graph}) == len(graph)


def test_an_argument_of_a_called_function_is_what_the_caller_gave(graph) -> None:
    assert inputs(graph, "shifted/Relu") == ["x:0"]
    assert {node.name for node, _ in graph.consumers("x")} >= {"shifted/Relu"}


def test_a_reader_of_a_calls_output_reads_the_value_inside(graph) -> None:
    (tanh,) = [node for node in graph if node.op_type == "Tanh"]
    variable = graph.node(tanh.inputs[0].node)
    assert variable.op_type == LOOP_VARIABLE
    assert str(variable.inputs[0]) == "shifted/Identity:0"
    assert variable.inputs[1].node.startswith("while/body/")


def test_a_branch_reads_its_condition_and_what_its_branches_give(graph) -> None:
    (branch,) = [node for node in graph if node.op_type in ("If", "StatelessIf")]
    first, *others = [str(tensor) for tensor in branch.inputs]
    assert first == "while/body/Greater:0"
    assert any(name.startswith("while/body/cond/true/") for name in others)
    assert any(name.startswith("while/body/cond/false/") for name in others)


def test_a_cond_of_a_loop_reads_the_variables_of_the_loop(graph) -> None:
    less = graph.node("while/cond/Less")
    assert graph.node(less.inputs[0].node).op_type == LOOP_VARIABLE


def test_attributes_are_texts(graph) -> None:
    assert graph.node("shifted/Relu").attributes["T"] == "float32"


def test_nodes_of_nested_functions_were_made_at_the_users_lines(concrete) -> None:
    tracebacks = function_tracebacks(concrete)
    lines, start = inspect.getsourcelines(program.python_function)
    tanh = next(name for name in tracebacks if name.endswith("/Tanh"))
    frame = user_frame(tracebacks[tanh])
    assert frame is not None
    assert frame.file == __file__
    assert "tf.tanh" in lines[frame.line - start]
    relu = user_frame(tracebacks["shifted/Relu"])
    assert relu is not None
    assert relu.function == "shifted"
    assert "x" in tracebacks
    assert "no such node" not in tracebacks


def test_the_line_alone_is_that_of_the_whole_stack(concrete) -> None:
    tracebacks = function_tracebacks(concrete)
    names = [*tracebacks, "no such node", "shifted/Relu/inside/of/it"]
    lines = [made_at(tracebacks, name) for name in names]  # before any stack was read
    assert lines == [made_at(dict(tracebacks), name) for name in names]
    assert [made_at(tracebacks, name) for name in names] == lines
    assert len(tracebacks) == len(list(tracebacks))


def test_a_loaded_function_has_a_graph_and_no_tracebacks(tmp_path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: tf.sin(x) * 2, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path)).f.concrete_functions[0]
    graph = function_graph(loaded)
    (sin,) = [node for node in graph if node.op_type == "Sin"]
    assert sin.name not in function_tracebacks(loaded)
    assert graph.node(sin.inputs[0].node).op_type == "Placeholder"


def test_captured_variables_bear_their_names() -> None:
    weight = tf.Variable([1.0], name="layer/weight")

    @tf.function
    def f(x):
        return x * weight

    graph = function_graph(f.get_concrete_function(tf.ones(1)))
    (read,) = [node for node in graph if node.op_type == "ReadVariableOp"]
    assert [str(tensor) for tensor in read.inputs] == ["layer/weight:0"]
