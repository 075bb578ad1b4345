"""Scopes of nested functions, as capture names them."""

from __future__ import annotations

from support.made_run import made_graph, op
from support.sample_step import BODY, STEP, step_run

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes


def test_calls_around_a_node_innermost_first() -> None:
    scopes = call_scopes(step_run().graph)
    assert list(scopes.around(f"{BODY}/cell/Mul")) == [BODY, STEP]
    assert list(scopes.around("x")) == []
    assert scopes.caller(STEP) == "StatefulPartitionedCall"
    assert scopes.caller(BODY) == f"{STEP}/model/lstm/while"


def test_two_calls_of_one_function_have_a_scope_each() -> None:
    graph = made_graph(
        op("a/PartitionedCall", "PartitionedCall", f="__inference_gelu_12"),
        op("a/PartitionedCall_1", "PartitionedCall", f="__forward_gelu_12_34"),
        op("a/gelu/Erf", "Erf"),
        op("a/gelu_1/Erf", "Erf"),
        op("a/gelu_layer/Erf", "Erf"),
    )
    scopes = call_scopes(graph)
    assert [scopes.caller(scope) for scope in ("a/gelu", "a/gelu_1")] == ["a/PartitionedCall", "a/PartitionedCall_1"]
    assert not list(scopes.around("a/gelu_layer/Erf"))


def test_branches() -> None:
    graph = made_graph(
        op("cond", "StatelessIf"), op("cond/true/Log", "Log"), op("cond/false/Exp", "Exp"), op("cond/then/x", "Relu"),
        op("switch", "Case"), op("switch/branch0/a", "Relu"), op("switch/branch11/a", "Relu"),
    )  # fmt: skip
    scopes = call_scopes(graph)
    assert {name: list(scopes.around(name)) for name in graph.names()} == {
        "cond": [], "cond/true/Log": ["cond/true"], "cond/false/Exp": ["cond/false"], "cond/then/x": [],
        "switch": [], "switch/branch0/a": ["switch/branch0"], "switch/branch11/a": ["switch/branch11"],
    }  # fmt: skip


def test_a_call_of_an_unknown_function_makes_no_scope() -> None:
    assert not call_scopes(made_graph(op("PartitionedCall", "PartitionedCall"), op("a/b", "Relu")))
