"""An op that the optimizer made of others is explained by those: which of them went wrong, and the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import NAN, made_graph, made_run, op

from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.graph import GraphKind, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame

FUSED = "Log/unary_ops_composition"


def composition(x: list[float], y: list[float], *names: str) -> Run:
    run = made_run(
        op("x", "Placeholder", value=x),
        op(FUSED, "_UnaryOpsComposition", "x", value=y, op_names=f"[{', '.join(names)}]", T="float32"),
    )
    written = [op("x", "Placeholder"), op("Tanh", "Tanh", "x"), op("Neg", "Neg", "Tanh"), op("Log", "Log", "Neg")]
    graph = made_graph(*written, kind=GraphKind.PYTHON)
    tracebacks = {name: (Frame("net.py", at, "f", ""),) for at, name in enumerate(["x", "Tanh", "Neg", "Log"])}
    return replace(run, python_graph=graph, tracebacks=tracebacks)


def test_the_op_of_a_composition_that_went_wrong_is_named_with_what_it_was_given() -> None:
    x = [-1.0, 0.5]
    origin = OriginSearch(composition(x, [float(np.log(np.tanh(np.float32(1)))), NAN], "Tanh", "Neg", "Log")).first()
    assert origin is not None
    assert (str(origin.name), origin.op_type) == (f"{FUSED}:0", "Log")
    assert origin.cause.text.startswith("Log of a negative number: Neg:0 is negative at 1 element.")
    assert "TensorFlow made one op of Tanh, Neg, Log" in origin.cause.text
    np.testing.assert_allclose(origin.inputs[0].value, -np.tanh(x), rtol=1e-6)
    assert origin.frame == Frame("net.py", 3, "f", "")
    assert origin.batch_rows == (1,)
    assert [element.parts[0].index for element in origin.elements if element.parts[0]] == [(1,)]


def test_without_the_program_s_graph_the_op_is_named_all_the_same() -> None:
    run = replace(composition([4.0, -0.5], [2.0, NAN], "Sqrt"), python_graph=None)
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.op_type == "Sqrt"
    assert origin.cause.text.startswith("Square root of a negative number")


@pytest.mark.parametrize("names", [(), ("Unheard",), ("Abs",)])
def test_what_the_ops_do_not_explain_is_not_explained(names) -> None:
    origin = OriginSearch(composition([4.0, -0.5], [2.0, NAN], *names)).first()
    assert origin is not None
    assert origin.op_type == "_UnaryOpsComposition"
    assert origin.cause.text.startswith("_UnaryOpsComposition gave 1 NaN among 2 elements")


@pytest.mark.parametrize(
    ("op_type", "plain"),
    [
        ("_MklMatMul", "MatMul"), ("_MklNativeFusedMatMul", "_FusedMatMul"), ("_MklNativeConv2D", "Conv2D"),
        ("_FusedMatMul", "_FusedMatMul"), ("MatMul", "MatMul"),
    ],
)  # fmt: skip
def test_ops_of_onednn_are_seen_as_those_in_whose_place_they_are(op_type, plain) -> None:
    assert as_written(Node("n", op_type, "")).op_type == plain


def test_rows_are_followed_through_products_of_onednn() -> None:
    run = made_run(
        op("x", "Placeholder", value=[[1.0, 1.0, 1.0], [1.0, -9.0, 1.0]]),
        op("w", "Const", value=np.ones((3, 4), np.float32)),
        op("y", "_MklNativeFusedMatMul", "x", "w", value=[[3.0] * 4, [-7.0] * 4]),
        op("z", "Log", "y", value=[[1.0] * 4, [NAN] * 4]),
        feeds={"x:0": [[1.0, 1.0, 1.0], [1.0, -9.0, 1.0]]},
    )
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.batch_rows == (1,)
