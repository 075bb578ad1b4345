"""Forward, gradient or update: told by names, op types and edges of real training steps."""

from __future__ import annotations

from collections import Counter

import pytest
from support.made_run import Op, made_graph, op
from support.real_graphs import NAMES, real_graph

from tfdbg_cli.analysis.graph.nodes.roles import Role, is_weight, role_by_name, role_of, roles_of
from tfdbg_cli.model.graph import Graph

F, G, U = Role.FORWARD, Role.GRADIENT, Role.UPDATE

EXPECTED = {
    "keras_3": {
        "x": F,
        "model_1/hidden_1/MatMul": F,
        "model_1/hidden_1/Cast/ReadVariableOp/resource": F,
        "model_1/dropout_1/stateless_dropout/SelectV2": F,
        "model_1/dropout_1/AssignVariableOp": U,  # the seed moves on
        "compile_loss/mse/Mean": F,
        "gradient_tape/model_1/hidden_1/MatMul/MatMul": G,
        "gradient_tape/model_1/hidden_1/ReluGrad": G,
        "ones": G,  # the gradient of the loss by itself
        "adam/IdentityN": U,
        "adam/Sqrt": U,
        "adam/Const_1": U,
        "adam/AssignSubVariableOp": U,
    },
    "keras_2": {
        "model/norm/moments/mean": F,
        "model/norm/AssignMovingAvg": U,
        "model/norm/AssignMovingAvg/sub": U,  # though its value comes from the forward pass
        "mean_squared_error/weighted_loss/value": F,
        "AssignAddVariableOp": U,  # the metric `loss`
        "Sum": F,  # feeds the metric alone, but belongs to the forward pass
        "AddN": G,  # sums gradients under a name of its own
        "SGD/AssignAddVariableOp": U,
    },
    "sessions": {
        "hidden/MatMul": F,
        "hidden/kernel/Assign": U,
        "loss": F,
        "gradients/loss_grad/truediv": G,
        "gradients/hidden/MatMul_grad/MatMul_1": G,
        "global_norm/global_norm": U,
        "clip_by_global_norm/mul": U,
        "Adam/update_hidden/kernel/ResourceApplyAdam": U,
        "Adam/beta1": U,
    },
}


@pytest.mark.parametrize("graph", NAMES)
def test_roles_of_real_training_steps(graph: str) -> None:
    built = real_graph(graph)
    expected = {name: role for name, role in EXPECTED[graph].items() if name in built}
    missing = EXPECTED[graph].keys() - expected
    assert not missing
    assert {name: role_of(built, name, built.node(name).op_type) for name in expected} == expected


@pytest.mark.parametrize("graph", NAMES)
def test_every_node_under_a_gradient_scope_is_a_gradient_and_nothing_of_a_layer_is(graph: str) -> None:
    built = real_graph(graph)
    roles = roles_of(built)
    for node in built:
        top = node.name.split("/")[0]
        if top in {"gradient_tape", "gradients"}:
            assert roles[node.name] is G, node.name
        elif top.lower() in {"adam", "sgd"} and node.op_type != "NoOp" and not node.name.endswith("resource"):
            assert roles[node.name] is U, node.name
        elif top in {"model", "model_1", "compile_loss", "hidden", "head"}:
            assert roles.get(node.name, F) is not G, node.name
    assert all(count > 20 for count in Counter(roles.values()).values())


def test_a_forward_pass_that_feeds_a_metric_alone_is_forward() -> None:
    graph = made_graph(
        op("x", "Placeholder"),
        op("metric", "Placeholder", dtype="resource"),
        op("mul", "Mul", "x", "x"),
        op("half", "Const"),
        op("loss", "Mul", "mul", "half"),
        op("add", "AssignAddVariableOp", "metric", "loss"),
        op("one", "Const"),
        op("step", "AssignAddVariableOp", "metric", "one"),
    )
    assert roles_of(graph) == {"add": U, "step": U, "one": U}


def test_a_step_written_by_hand_is_told_by_its_edges() -> None:
    graph = made_graph(
        op("x", "Placeholder"),
        op("w", "Placeholder", dtype="resource"),
        op("read", "ReadVariableOp", "w"),
        op("loss", "Mul", "x", "read"),
        op("gradient_tape/Mul", "Mul", "x", "x"),
        op("rate", "Const"),
        op("scaled", "Mul", "gradient_tape/Mul", "rate"),
        op("AssignSubVariableOp", "AssignSubVariableOp", "w", "scaled"),
    )
    roles = roles_of(graph)
    assert {name: roles.get(name, F) for name in graph.names()} == {
        "x": F, "w": F, "read": F, "loss": F, "gradient_tape/Mul": G, "rate": U, "scaled": U,
        "AssignSubVariableOp": U,
    }  # fmt: skip


def test_a_gradient_penalty_is_forward_again() -> None:
    """What is computed from a gradient and differentiated once more is no update."""
    graph = made_graph(
        op("x", "Placeholder"),
        op("gradient_tape/Mul", "Mul", "x", "x"),
        op("Square", "Square", "gradient_tape/Mul"),
        op("penalty", "Sum", "Square"),
        op("gradient_tape_1/Mul", "Mul", "Square", "gradient_tape/Mul"),
    )
    assert {name for name, role in roles_of(graph).items() if role is U} == set()
    assert role_of(graph, "Square", "Square") is F


@pytest.mark.parametrize(
    ("name", "op_type", "role"),
    [
        ("replica_1/gradient_tape/model/dense/MatMul/MatMul", "MatMul", G),
        ("StatefulPartitionedCall/gradients_2/Relu_grad/ReluGrad", "ReluGrad", G),
        ("train/gradients/AddN", "AddN", G),
        ("my_gradients/Mul", "Mul", F),
        ("a/FusedBatchNormGradV3", "FusedBatchNormGradV3", G),
        ("a/ScatterNd", "ScatterNd", F),
        ("a/ScatterNdUpdate", "ScatterNdUpdate", U),
        ("a/TensorScatterUpdate", "TensorScatterUpdate", F),
        ("a/AssignVariableOp", "AssignVariableOp", U),
        ("a/SparseApplyAdagrad", "SparseApplyAdagrad", U),
        ("clip_grad/Mul", "Mul", F),
        ("vae/dec_out/conv_transpose", "Conv2DBackpropInput", F),
        ("unet/up/Conv2DBackpropInput_7", "Conv2DBackpropInput", F),  # as eager code names it
        ("conv3d_transpose", "Conv3DBackpropInputV2", F),
        ("gradient_tape/vae/conv/Conv2D/Conv2DBackpropInput", "Conv2DBackpropInput", G),
        ("back/conv_grad/Conv2DBackpropInput", "Conv2DBackpropInput", G),
        ("a/Conv2DBackpropFilter", "Conv2DBackpropFilter", G),
        ("hidden/kernel/after_update", "UpdatedVariable", U),
    ],
)
def test_what_a_name_and_an_op_type_tell(name: str, op_type: str, role: Role) -> None:
    assert role_by_name(name, op_type) is role


def test_a_grad_scope_counts_where_its_op_is_known() -> None:
    """tf.gradients(name="mine") of TensorFlow 1 says so only by `X_grad`."""
    graph = made_graph(
        op("hidden/MatMul", "MatMul"),
        op("mine/hidden/MatMul_grad/MatMul", "MatMul", "hidden/MatMul"),
        op("clip_grad/Mul", "Mul", "hidden/MatMul"),
    )
    assert dict(roles_of(graph)) == {"mine/hidden/MatMul_grad/MatMul": G}


def test_a_name_that_no_graph_holds_is_read_alone() -> None:
    assert role_of(made_graph(), "gradient_tape/x", "Mul") is G


def test_loops_end() -> None:
    graph = made_graph(
        op("Enter", "Enter"), op("Merge", "Merge", "Enter", "Next"), op("Next", "NextIteration", "Merge"),
        op("gradients/Merge", "Merge", "gradients/Next", "Merge"),
        op("gradients/Next", "NextIteration", "gradients/Merge"),
    )  # fmt: skip
    assert set(roles_of(graph)) == {"gradients/Merge", "gradients/Next"}


def test_in_a_huge_graph_names_decide() -> None:
    """A list of tensors must open at once, however large the graph."""
    chain = [op("gradient_tape/0", "Mul"), *(op(f"n{i}", "Mul", "gradient_tape/0") for i in range(20_000))]
    graph = made_graph(*chain, op("sum", "AddN", "gradient_tape/0"))
    assert dict(roles_of(graph)) == {"gradient_tape/0": G}


def _step_of_fit(*loop: Op) -> Graph:
    """A step whose batch comes out of an iterator, and whose loss feeds the metric alone."""
    return made_graph(
        op("iterator", "Placeholder", dtype="resource"), op("total", "Placeholder", dtype="resource"),
        op("w", "Placeholder", dtype="resource"), op("next", "IteratorGetNext", "iterator"), *loop,
        op("read", "ReadVariableOp", "w"), op("y", "Mul", loop[-1].name if loop else "next", "read"),
        op("loss", "Mean", "y"), op("AssignAddVariableOp", "AssignAddVariableOp", "total", "loss"),
        op("gradient_tape/Mul", "Mul", "y", "next"),
        op("sgd/AssignSubVariableOp", "AssignSubVariableOp", "w", "gradient_tape/Mul"),
    )  # fmt: skip


def test_a_loss_of_what_an_iterator_gave_is_forward() -> None:
    """A blind test: half of the ops of a loss in `fit` were said to update something."""
    roles = roles_of(_step_of_fit())
    assert [roles.get(name, F) for name in ("next", "y", "loss")] == [F, F, F]
    assert roles["AssignAddVariableOp"] is U


def test_what_comes_of_a_loop_that_fills_a_list_for_its_gradient_is_forward() -> None:
    shape, filled = "gradient_tape/while/accumulator/element_shape", "gradient_tape/while/accumulator"
    loop = op(shape, "Const"), op(filled, "EmptyTensorList", shape, "most"), op("while", "While", "next", filled)
    assert roles_of(_step_of_fit(*loop)).get("loss", F) is F


def test_the_state_of_an_optimizer_in_a_branch_is_no_weight() -> None:
    """A LossScaleOptimizer applies in a branch: its momentum was a weight that changed by more than it was."""
    adam = "cond/true/adam"
    graph = made_graph(
        op("x", "Placeholder"), op("w", "VarHandleOp"), op("m", "VarHandleOp"), op("read", "ReadVariableOp", "w"),
        op("y", "Mul", "x", "read"), op("gradient_tape/Mul", "Mul", "x", "y"),
        op("cond", "If", "finite", "m", "w", "gradient_tape/Mul"),
        op(f"{adam}/ReadVariableOp", "ReadVariableOp", "m"),
        op(f"{adam}/Sub", "Sub", "gradient_tape/Mul", f"{adam}/ReadVariableOp"),
        op(f"{adam}/AssignAddVariableOp", "AssignAddVariableOp", "m", f"{adam}/Sub"),
        op(f"{adam}/AssignSubVariableOp", "AssignSubVariableOp", "w", f"{adam}/Sub"),
    )  # fmt: skip
    assert [is_weight(graph, variable) for variable in ("w", "m")] == [True, False]


def test_a_forward_pass_of_variables_alone_that_only_its_gradient_reads_is_forward() -> None:
    """In eager code a tape reads what the loss gave, for its shape: `log(w)` was called a gradient."""
    graph = made_graph(
        op("w", "VarHandleOp"),
        op("read", "ReadVariableOp", "w"),
        op("log", "Log", "read"),
        op("axis", "Const"),
        op("gradient_tape/Shape", "Shape", "log"),
        op("gradient_tape/Fill", "Fill", "gradient_tape/Shape", "one"),
        op("one", "Identity", "axis"),
        op("gradient_tape/Reciprocal", "Reciprocal", "read"),
    )
    roles = roles_of(graph)
    assert [roles.get(name, F) for name in ("read", "log", "one")] == [F, F, G]
