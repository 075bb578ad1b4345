"""Layers, roles and calls of a Keras model, in the graph that capture makes of its training step."""

from __future__ import annotations

import re

import pytest

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.model.graph import Graph

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def graph() -> Graph:
    import keras
    import tensorflow as tf

    from tfdbg_cli.capture.functions.graph.function_graph import function_graph

    model = keras.Sequential(
        [keras.layers.Input((6, 4)), keras.layers.LSTM(3, name="memory"), keras.layers.Dense(2, name="head")],
        name="model",
    )
    model.compile(optimizer="adam", loss="mse", jit_compile=False)
    model.optimizer.build(model.trainable_variables)

    @tf.function
    def inner(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = model.compute_loss(x, y, model(x, training=True))
        model.optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return inner(x, y)

    found: Graph = function_graph(step.get_concrete_function(tf.zeros([5, 6, 4]), tf.zeros([5, 2])))
    return found


def _layers(graph: Graph, ending: str) -> set[str]:
    """The layers of the nodes whose name ends so, without the numbers that Keras gives."""
    layers = layers_of(graph)
    found = {scope_text(layers.layer(name)) for name in graph.names() if name.endswith(ending)}
    return {"/".join(part.rstrip("_0123456789") for part in name.split("/")) for name in found}


def test_the_layers_of_the_model_are_found_through_calls_and_loops(graph: Graph) -> None:
    names = ["/".join(part.rstrip("_0123456789") for part in name.split("/")) for name in layers_of(graph).names]
    assert {"model", "model/memory", "model/memory/lstm_cell", "model/head", "compile_loss/mse", "adam"} <= set(names)
    assert not any(part in name.split("/") for name in names for part in ("while", "body", "inner", "gradient_tape"))


def test_what_runs_in_the_loop_and_its_gradient_belongs_to_the_cell(graph: Graph) -> None:
    assert _layers(graph, "/Tanh") == {"model/memory/lstm_cell"}
    assert _layers(graph, "/TanhGrad") == {"model/memory/lstm_cell"}


def test_roles_in_nested_functions(graph: Graph) -> None:
    by_op = {op: {role_of(graph, n.name, op) for n in graph if n.op_type == op} for op in ("Tanh", "TanhGrad")}
    assert by_op == {"Tanh": {Role.FORWARD}, "TanhGrad": {Role.GRADIENT}}
    roles = {node.name: role_of(graph, node.name, node.op_type) for node in graph}
    # The optimizer of a process that made others before is called adam_1.
    inside = {name: role for name, role in roles.items() if re.search(r"/adam(_\d+)?/", name)}
    assert inside and {role for name, role in inside.items() if graph.node(name).op_type != "NoOp"} == {Role.UPDATE}


def test_every_nested_node_stands_in_a_call_scope(graph: Graph) -> None:
    scopes = call_scopes(graph)
    loop = next(node.name for node in graph if node.op_type == "Tanh" and "while" in node.name)
    around = list(scopes.around(loop))
    assert around[0].endswith("/while/body") and around[-1] == "inner"
    assert {graph.node(scopes.caller(scope)).op_type for scope in around} <= {
        "While", "StatelessWhile", "StatefulPartitionedCall", "PartitionedCall",
    }  # fmt: skip
