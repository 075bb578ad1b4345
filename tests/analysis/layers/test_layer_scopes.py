"""Keras layers and name scopes, read off the names of real training steps and of nested functions."""

from __future__ import annotations

import gc

import pytest
from support.made_run import made_graph, op
from support.real_graphs import real_graph

from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph


def layer(graph: Graph, node: str) -> str:
    return scope_text(layers_of(graph).layer(node))


def within(graph: Graph, text: str) -> list[str]:
    found = layers_of(graph)
    test = found.tester(found.resolve(text))
    return [name for name in graph.names() if test(name)]


@pytest.mark.parametrize(
    ("graph", "names"),
    [
        (
            "keras_3",
            [
                "model_1", "model_1/hidden_1", "model_1/dropout_1", "model_1/dropout_1/stateless_dropout",
                "model_1/head_1", "compile_loss", "compile_loss/mse", "adam",
            ],
        ),
        (
            "keras_2",
            [
                "model", "model/hidden", "model/norm", "model/norm/moments", "model/norm/batchnorm", "model/head",
                "mean_squared_error", "mean_squared_error/weighted_loss", "SGD",
            ],
        ),
    ],
)  # fmt: skip
def test_the_layers_of_real_models(graph: str, names: list[str]) -> None:
    """Neither ops with helpers in their scope nor scopes of variables, constants and gradients count."""
    assert layers_of(real_graph(graph)).names == names


def test_variables_and_initializers_of_a_session_belong_to_their_layer() -> None:
    graph = real_graph("sessions")
    assert {"hidden", "head"} <= set(layers_of(graph).names)
    assert layer(graph, "hidden/kernel/Initializer/random_uniform/RandomUniform") == "hidden"


@pytest.mark.parametrize(
    ("graph", "node", "expected"),
    [
        ("keras_3", "gradient_tape/model_1/hidden_1/MatMul/MatMul", "model_1/hidden_1"),
        ("keras_3", "adam/AssignSubVariableOp", "model_1/hidden_1"),  # updates the kernel that hidden_1 reads
        ("keras_3", "adam/truediv_1", "model_1/hidden_1"),
        ("keras_3", "adam/IdentityN", "adam"),  # holds the gradients of all layers
        ("keras_2", "model/norm/AssignMovingAvg/sub", "model/norm"),
        ("sessions", "gradients/hidden/MatMul_grad/MatMul_1", "hidden"),
        ("sessions", "Adam/update_hidden/kernel/ResourceApplyAdam", "hidden"),
        ("sessions", "x", ""),
    ],
)
def test_gradients_and_updates_belong_to_the_layer_they_are_for(graph: str, node: str, expected: str) -> None:
    assert node in real_graph(graph)
    assert layer(real_graph(graph), node) == expected


STEP = "one_step_on_data"
GRAD = f"{STEP}/gradient_tape/model/lstm/while/model/lstm/while_grad"
NESTED = made_graph(
    op("iterator", "Placeholder"),
    op("StatefulPartitionedCall", "StatefulPartitionedCall", f="__inference_one_step_on_data_1788"),
    op(f"{STEP}/model/lstm/while", "While"),
    op(f"{STEP}/model/lstm/while/body/cell/MatMul", "MatMul"),
    op(f"{STEP}/model/lstm/while/body/model/lstm/while/cell/Sigmoid", "Sigmoid"),
    op(f"{STEP}/model/lstm/while/cond/Less", "Less"),
    op(f"{STEP}/model/head/MatMul", "MatMul"),
    op(GRAD, "StatelessWhile"),
    op(f"{GRAD}/body/gradient_tape/model/lstm/while/gradients/model/lstm/while/cell/MatMul_grad/MatMul", "MatMul"),
    op(f"{GRAD}/body/gradients/AddN", "AddN"),
    op(f"{STEP}/model/dense/PartitionedCall", "PartitionedCall", f="gelu"),
    op(f"{STEP}/model/dense/PartitionedCall_1", "PartitionedCall", f="gelu"),
    op(f"{STEP}/model/dense/gelu/Erf", "Erf"),
    op(f"{STEP}/model/dense/gelu_1/Erf", "Erf"),
    op(f"{STEP}/model/dense/cond", "If"),
    op(f"{STEP}/model/dense/cond/true/Log", "Log"),
    op("replica_1/model/head/MatMul", "MatMul"),
)


def test_calls_and_loops_leave_no_trace_in_the_path_of_a_layer() -> None:
    assert layers_of(NESTED).names == [
        "model", "model/lstm", "model/lstm/cell", "model/head", "model/dense",
        "replica_1", "replica_1/model", "replica_1/model/head",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (f"{STEP}/model/lstm/while/body/cell/MatMul", "model/lstm/cell"),
        (f"{STEP}/model/lstm/while/body/model/lstm/while/cell/Sigmoid", "model/lstm/cell"),
        (f"{STEP}/model/lstm/while/cond/Less", "model/lstm"),
        (
            f"{GRAD}/body/gradient_tape/model/lstm/while/gradients/model/lstm/while/cell/MatMul_grad/MatMul",
            "model/lstm/cell",
        ),
        (f"{GRAD}/body/gradients/AddN", "model/lstm"),
        (f"{STEP}/model/dense/gelu_1/Erf", "model/dense"),
        (f"{STEP}/model/dense/cond/true/Log", "model/dense"),
        ("StatefulPartitionedCall", ""),
        ("not/in/the/graph", "not/in/the"),
    ],
)
def test_nodes_of_nested_functions(node: str, expected: str) -> None:
    assert layer(NESTED, node) == expected


def test_a_layer_is_found_wherever_it_stands_in_the_path() -> None:
    assert within(NESTED, "head") == [f"{STEP}/model/head/MatMul", "replica_1/model/head/MatMul"]
    assert within(NESTED, "replica_1") == ["replica_1/model/head/MatMul"]
    assert len(within(NESTED, "model/lstm")) == 7
    assert within(NESTED, "lstm/cell") == [name for name in NESTED.names() if "cell" in name]
    assert set(within(NESTED, "gradient_tape")) == {name for name in NESTED.names() if "gradient_tape" in name}
    assert within(NESTED, "one_step_on_data") == [name for name in NESTED.names() if name.startswith(STEP)]


def test_the_number_that_keras_gave_a_layer_may_be_left_out() -> None:
    graph = real_graph("keras_3")
    assert "gradient_tape/model_1/head_1/MatMul/MatMul" in within(graph, "head")
    assert within(graph, "head") == within(graph, "head_1") == within(graph, "model_1/head_1")


@pytest.mark.parametrize(
    ("text", "hint"), [("hidde", "hidden_1"), ("", "`layers`"), ("/", "`layers`"), ("µ", "`layers`")]
)
def test_an_unknown_layer_is_an_error_that_names_the_nearest(text: str, hint: str) -> None:
    with pytest.raises(TfdbgError, match="no layer or scope") as caught:
        layers_of(real_graph("keras_3")).resolve(text)
    assert hint in caught.value.hint


def test_layers_do_not_keep_their_graph() -> None:
    graph = made_graph(op("a/b", "Relu"))
    kept = layers_of(graph)
    del graph
    gc.collect()
    with pytest.raises(ReferenceError):
        _ = kept._graph


def keras_3(*calls: tuple[str, str]) -> Graph:
    """A graph in which each scope of the `calls` reads the kernel and the bias of the layer beside it."""
    nodes = []
    for layer_name in dict.fromkeys(layer_name for _, layer_name in calls):
        nodes += [op(f"{layer_name}/{variable}", "Placeholder") for variable in ("kernel", "bias")]
    before = "x"
    for scope, layer_name in calls:
        nodes += [
            op(f"step/{scope}/Cast/ReadVariableOp", "ReadVariableOp", f"{layer_name}/kernel"),
            op(f"step/{scope}/MatMul", "MatMul", before, f"step/{scope}/Cast/ReadVariableOp"),
            op(f"step/{scope}/BiasAdd/ReadVariableOp", "ReadVariableOp", f"{layer_name}/bias"),
            op(f"step/{scope}/BiasAdd", "BiasAdd", f"step/{scope}/MatMul", f"step/{scope}/BiasAdd/ReadVariableOp"),
            op(f"step/{scope}/Relu", "Relu", f"step/{scope}/BiasAdd"),
        ]
        before = f"step/{scope}/Relu"
    nodes += [
        op(f"{layer_name}/kernel/after_update", "UpdatedVariable", f"{layer_name}/kernel") for _, layer_name in calls
    ]
    return made_graph(op("x", "Placeholder"), *nodes)


def test_layers_have_the_names_of_their_variables_where_keras_numbers_scopes_anew() -> None:
    graph = keras_3(
        ("net_1/dense_1", "net/dense"), ("net_1/dense_1_2", "net/dense_1"), ("net_1/head_1", "net/head")
    )  # fmt: skip
    assert layer(graph, "step/net_1/dense_1/MatMul") == "step/net/dense"
    assert layer(graph, "step/net_1/dense_1_2/MatMul") == "step/net/dense_1"
    matmuls = {
        text: [name for name in within(graph, text) if name.endswith("MatMul")] for text in ("dense", "dense_1")
    }
    assert matmuls == {"dense": ["step/net_1/dense_1/MatMul"], "dense_1": ["step/net_1/dense_1_2/MatMul"]}
    assert "net/dense_1/kernel/after_update" in within(graph, "dense_1")


def test_a_layer_that_is_called_twice_has_a_scope_for_each_call() -> None:
    graph = keras_3(("net_1/shared_1", "net/shared"), ("net_1/shared_3", "net/shared"))
    assert layer(graph, "step/net_1/shared_1/MatMul") != layer(graph, "step/net_1/shared_3/MatMul")
    assert {"step/net_1/shared_1/MatMul", "step/net_1/shared_3/MatMul"} <= set(within(graph, "shared"))


def test_a_layer_that_reads_the_variable_of_another_has_its_own_name() -> None:
    graph = keras_3(("net_1/table_1", "net/table"), ("net_1/head_1", "net/table"))
    assert layer(graph, "step/net_1/table_1/MatMul") == "step/net/table"
    assert layer(graph, "step/net_1/head_1/MatMul") == "step/net/head"


def test_layers_whose_variables_do_not_name_them_have_one_number_less_than_their_scopes() -> None:
    """Those of a model that made them when it was called first, and layers without variables."""
    model = [("net_1/dense_1", "net"), ("net_1/dense_1_2", "net"), ("net_1/relu_1", "net"), ("net_1/relu_1_2", "net")]
    graph = keras_3(*model)
    names = [layer(graph, f"step/{scope}/MatMul") for scope, _ in model]
    assert names == ["step/net/dense", "step/net/dense_1", "step/net/relu", "step/net/relu_1"]


def test_a_variable_that_is_cast_is_no_layer_of_its_own() -> None:
    """A blind test: under mixed precision `trends` had the kernel of each layer in a layer called Cast."""
    graph = made_graph(
        op("x", "Placeholder"), op("net/first/kernel", "Placeholder"), op("scale", "Placeholder"),
        op("net/first/Cast/Cast/ReadVariableOp", "ReadVariableOp", "net/first/kernel"),
        op("net/first/Cast/Cast", "Cast", "net/first/Cast/Cast/ReadVariableOp"),
        op("net/first/MatMul", "MatMul", "x", "net/first/Cast/Cast"),
        op("gradient_tape/net/first/Cast/Cast/Cast", "Cast", "net/first/MatMul"),
        op("net/Cast_1/Cast/ReadVariableOp", "ReadVariableOp", "scale"),
        op("net/Cast_1/Cast", "Cast", "net/Cast_1/Cast/ReadVariableOp"),
        op("net/mul", "Mul", "net/first/MatMul", "net/Cast_1/Cast"),
        op("given/Cast/Cast", "Cast", "x"),
    )  # fmt: skip
    assert layers_of(graph).names == ["net", "net/first", "given", "given/Cast"]
    assert (
        layer(graph, "net/first/Cast/Cast") == layer(graph, "gradient_tape/net/first/Cast/Cast/Cast") == "net/first"
    )
    assert layer(graph, "net/Cast_1/Cast") == "net"


def test_what_the_runtime_puts_where_a_session_feeds_and_fetches_makes_no_layer() -> None:
    graph = made_graph(
        op("_arg_deep/x_0_0", "_Arg"), op("deep/dense/MatMul", "MatMul", "_arg_deep/x_0_0"),
        op("loss/Exit", "Sum", "deep/dense/MatMul"), op("_retval_loss/Exit_0_1", "_Retval", "loss/Exit"),
        op("_retval_out_0_0", "_Retval", "loss/Exit"),
    )  # fmt: skip
    assert layer(graph, "_arg_deep/x_0_0") == "deep"
    assert layer(graph, "_retval_loss/Exit_0_1") == "loss" and layer(graph, "_retval_out_0_0") == ""
    assert layers_of(graph).names == ["deep", "deep/dense", "loss"]
    assert layers_of(Graph()).scope("_retval_loop/Exit_1_0_2") == ("loop",)
