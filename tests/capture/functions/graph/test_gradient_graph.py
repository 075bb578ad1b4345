"""The model of a gradient function that a tape outside of the forward function calls: names, edges and lines."""

from __future__ import annotations

import pytest
import tensorflow as tf
from support.gradient_programs import PROGRAMS, asked, bug_line, gradient_functions, plain

from tfdbg_cli.analysis.graph.making.forward import named_forward
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction, traced_function

pytestmark = pytest.mark.tf

SLOPES = ("SqrtGrad",)


def of(name: str, *, persistent: bool = False) -> TracedFunction:
    """What is known of the gradient of a program called so."""
    with gradient_functions() as called:
        asked(PROGRAMS[name], persistent=persistent)
    return traced_function(called[0])


@pytest.mark.parametrize("persistent", [False, True], ids=["once", "persistent"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_is_made_at_the_line_of_its_forward_op(name, persistent) -> None:
    traced = of(name, persistent=persistent)
    slopes = [node for node in traced.graph if node.op_type in SLOPES]
    assert slopes
    for node in slopes:
        forward, frame = named_forward(traced.graph, node), made_at(traced.tracebacks, node.name)
        assert forward is not None and forward.op_type == "Sqrt", node.name
        assert frame is not None and (frame.line, frame.text) == (bug_line(PROGRAMS[name])[0], frame.text)
        assert "BUG" in frame.text
        assert made_at(traced.tracebacks, forward.name) == frame


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_edge_ends_at_a_node_and_every_tensor_of_a_run_is_of_one(name) -> None:
    traced = of(name)
    for node in traced.graph:
        assert all(tensor.node in traced.graph for tensor in node.inputs), node
        assert all(one in traced.graph for one in node.control_inputs), node
    assert len({node.name for node in traced.graph}) == len(traced.graph)
    assert {one.node for one in traced.returned} <= set(traced.graph.names())
    assert set(traced.given) <= set(traced.graph.names())


def test_what_was_handed_over_is_what_made_it_in_the_forward_function() -> None:
    traced = of("plain")
    assert {"plain/x", "plain/Sqrt"} <= set(traced.given)
    root = traced.graph.node("plain/Sqrt")
    assert (root.op_type, [str(one) for one in root.inputs]) == ("Sqrt", ["plain/Sqrt/ReadVariableOp:0"])
    (slope,) = [node for node in traced.graph if node.op_type == "SqrtGrad"]
    assert str(slope.inputs[0]) == "plain/Sqrt:0"
    assert made_at(traced.tracebacks, "plain/mul") == made_at(traced.tracebacks, "gradients/mul_grad/Mul_1")


def test_what_a_called_function_handed_over_is_named_as_it_is_inside() -> None:
    given = of("nested").given
    assert {"nested/root/Sqrt", "nested/root_1/Sqrt"} <= set(given)


def test_a_further_output_of_an_op_is_a_copy_of_it() -> None:
    traced = of("two_outputs")
    places = traced.graph.node("two_outputs/TopKV2_1")
    assert (places.op_type, [str(one) for one in places.inputs]) == ("Identity", ["two_outputs/TopKV2:1"])
    frame = made_at(traced.tracebacks, "two_outputs/TopKV2_1")
    assert frame is not None and "top_k" in frame.text


def test_a_loop_in_a_forward_function_has_its_own_name_inside() -> None:
    names = set(of("loop").graph.names())
    assert {"loop/while/body/Sqrt", "loop/while/cond/Less"} <= names
    assert not [name for name in names if name.startswith("loop/while_") and "/" in name.removeprefix("loop/")]


def test_the_gradient_of_a_gradient_is_of_the_forward_op_too() -> None:
    variable = tf.Variable([1.0, 4.0])
    with gradient_functions() as called, tf.GradientTape() as outer:
        slope = asked(plain, v=variable)
    with gradient_functions() as called:
        outer.gradient(slope, variable)
    traced = next(one for one in map(traced_function, called) if one.name.count("gradient of") == 2)
    assert traced.name == "gradient of gradient of plain"
    quotients = [node for node in traced.graph if "SqrtGrad_grad" in node.name and node.op_type == "RealDiv"]
    assert quotients
    for node in quotients:
        forward = named_forward(traced.graph, node)
        assert forward is not None and forward.name == "backward_plain/plain/Sqrt"
        frame = made_at(traced.tracebacks, node.name)
        assert frame is not None and frame.line == bug_line(plain)[0]


def test_a_function_that_is_no_gradient_has_no_forward_function() -> None:
    @tf.function
    def around(x):
        return tf.function(lambda: x * 2.0)() + 1.0  # captures a tensor of the function around it

    concrete = around.get_concrete_function(tf.ones([2]))
    assert traced_function(concrete.inference_fn).forward is None
    (inner,) = concrete.inference_fn.children
    assert traced_function(inner).forward is None
