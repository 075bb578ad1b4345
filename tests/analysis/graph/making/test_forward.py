"""The forward op whose gradient an op computes, where neither a name nor the op's type tells."""

from __future__ import annotations

import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.making.forward import forward_of, named_forward, steep_forward_of
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.forward_scopes import forward_scope
from tfdbg_cli.model.runs import Run

_TAPE = "gradient_tape/"
OF_ACOSH = (
    op("f", "Acosh", "x"),
    op(f"{_TAPE}Sinh", "Sinh", "f"),
    op("bad", "RealDiv", "g", f"{_TAPE}Sinh"),
)
OF_ATAN2 = (
    op("f", "Atan2", "y", "x"),
    op(f"{_TAPE}Square", "Square", "y"),
    op(f"{_TAPE}Square_1", "Square", "x"),
    op(f"{_TAPE}add", "AddV2", f"{_TAPE}Square", f"{_TAPE}Square_1"),
    op("bad", "RealDiv", "g", f"{_TAPE}add"),
)


@pytest.mark.parametrize("nodes", [OF_ACOSH, OF_ATAN2], ids=["acosh", "atan2"])
def test_a_quotient_that_a_tape_made_is_of_the_op_with_the_steep_slope(nodes: tuple[Op, ...]) -> None:
    *before, last = nodes
    name = f"{_TAPE}truediv"
    run = made_run(
        op("x", "Placeholder"), op("y", "Placeholder"), op("g", "Const"), *before, op(name, "RealDiv", *last.inputs)
    )
    lineage, node = Lineage(run), run.graph.find(name)
    assert node is not None
    found = steep_forward_of(run.graph, lineage, node)
    assert found is not None and found.name == "f"
    found = forward_of(run.graph, lineage, node)
    assert found is not None and found.name == "f"


def test_a_sinh_of_the_program_behind_an_acosh_is_no_gradient() -> None:
    run = made_run(op("x", "Placeholder"), op("f", "Acosh", "x"), op("s", "Sinh", "f"))
    node = run.graph.find("s")
    assert node is not None and forward_of(run.graph, Lineage(run), node) is None


def _named(run: Run, name: str) -> str:
    found = named_forward(run.graph, run.graph.node(name))
    return "" if found is None else found.name


def test_a_function_of_gradients_is_of_the_function_of_which_it_reads_most() -> None:
    """`mul` stands in the step, too; the gradients in `backward_f` are of `f_1`, as what they read tells."""
    run = made_run(
        op("x", "Placeholder"), op("mul", "Mul", "x", "x"),
        op("f/Sqrt", "Sqrt", "mul"), op("f/mul", "Mul", "f/Sqrt", "x"),
        op("PartitionedCall", "PartitionedCall", "x", f="__forward_f_7"),
        op("f_1/Sqrt", "Sqrt", "f/mul"), op("f_1/mul", "Mul", "f_1/Sqrt", "x"),
        op("PartitionedCall_1", "PartitionedCall", "x", f="__forward_f_7"),
        op("backward_f/gradients/mul_grad/Mul", "Mul", "x", "x"),
        op("backward_f/gradients/mul_grad/Mul_1", "Mul", "x", "f_1/Sqrt"),
        op("backward_f/gradients/Sqrt_grad/SqrtGrad", "SqrtGrad", "f_1/Sqrt", "x"),
        op("PartitionedCall_2", "PartitionedCall", "x", f="__inference___backward_f_3_8"),
    )  # fmt: skip
    assert forward_scope(run.graph, "backward_f/gradients/mul_grad/Mul") == "f_1"
    assert _named(run, "backward_f/gradients/mul_grad/Mul") == "f_1/mul"
    assert _named(run, "backward_f/gradients/Sqrt_grad/SqrtGrad") == "f_1/Sqrt"


def test_a_call_of_gradients_is_named_after_the_call_whose_gradients_it_computes() -> None:
    """Of `g` nothing is read but what was made outside of it, in the run of a gradient of its own."""
    gradients = "gradients/StatefulPartitionedCall_grad/backward_g/gradients"
    run = made_run(
        op("f/x", "Placeholder"), op("f/exp", "Exp", "f/x"), op("f/mul", "Mul", "f/exp", "f/x"),
        op("f/StatefulPartitionedCall", "StatefulPartitionedCall", "f/mul", f="__forward_g_5"),
        op("f/g/mul", "Mul", "f/mul", "f/mul"), op("forward", "PartitionedCall", f="__forward_f_7"),
        op("gradients/exp_grad/mul", "Mul", "f/exp", "f/x"),
        op("gradients/StatefulPartitionedCall_grad/StatefulPartitionedCall", "StatefulPartitionedCall",
           "f/x", f="__inference___backward_g_3_8"),
        op(f"{gradients}/mul_grad/Mul", "Mul", "f/x", "f/mul"),
    )  # fmt: skip
    assert _named(run, "gradients/exp_grad/mul") == "f/exp"
    assert _named(run, f"{gradients}/mul_grad/Mul") == "f/g/mul"


def test_ops_of_two_functions_that_eager_code_called_are_told_apart() -> None:
    run = made_run(
        op("f_0/Sqrt", "Sqrt", "x"), op("g_0/Sqrt", "Sqrt", "x"), op("x", "Placeholder"),
        op("gradient of f_0/gradients/Sqrt_grad/SqrtGrad", "SqrtGrad", "f_0/Sqrt", "x"),
        op("gradient of g_0/gradients/Sqrt_grad/SqrtGrad", "SqrtGrad", "g_0/Sqrt", "x"),
    )  # fmt: skip
    for name in ("f", "g"):
        assert _named(run, f"gradient of {name}_0/gradients/Sqrt_grad/SqrtGrad") == f"{name}_0/Sqrt"


def test_gradients_that_read_nothing_of_the_forward_pass_are_of_no_function() -> None:
    run = made_run(op("x", "Placeholder"), op("gradients/Sqrt_grad/SqrtGrad", "SqrtGrad", "x", "x"))
    assert forward_scope(run.graph, "gradients/Sqrt_grad/SqrtGrad") is None
    assert _named(run, "gradients/Sqrt_grad/SqrtGrad") == ""


def test_of_two_forward_ops_it_is_the_one_whose_tensor_the_gradient_reads_itself() -> None:
    """Without scopes, as in eager code, the gradient of a root behind a ReLU was of neither."""
    run = made_run(
        op("x", "Placeholder"), op("Sqrt_0", "Sqrt", "x"), op("Relu_0", "Relu", "Sqrt_0"), op("g", "Const"),
        op(f"{_TAPE}ReluGrad_0", "ReluGrad", "g", "Relu_0"),
        op(f"{_TAPE}SqrtGrad_0", "SqrtGrad", "Sqrt_0", f"{_TAPE}ReluGrad_0"),
    )  # fmt: skip
    for gradient, forward in (("SqrtGrad_0", "Sqrt_0"), ("ReluGrad_0", "Relu_0")):
        node = run.graph.find(f"{_TAPE}{gradient}")
        assert node is not None
        found = forward_of(run.graph, Lineage(run), node)
        assert found is not None and found.name == forward
