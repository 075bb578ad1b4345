"""Whether a run needed a node: told by the program's graph and the fetches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import made_graph, made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.graph.nodes.needed import not_needed_text, was_needed
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run, RunEnd

GRAPH = made_graph(
    op("x", "Placeholder"),
    op("mid", "Relu", "x"),
    op("loss", "Mean", "mid"),
    op("w", "VariableV2"),
    op("start", "Const"),
    op("assign", "Assign", "w", "start"),
    op("init", "NoOp", control=("assign",)),
    kind=GraphKind.PYTHON,
)


def run(*fetches: str, **changes: object) -> Run:
    made = made_run(op("start", "Const", value=1.0), op("assign", "Assign", "start", value=1.0))
    call = Call(1, RunKind.SESSION, fetches, {})
    return replace(made, **({"call": call, "python_graph": GRAPH} | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fetch", "node", "needed"),
    [
        ("loss:0", "x", True), ("loss:0", "loss", True), ("loss:0", "init", False), ("init", "loss", False),
        ("init", "start", True), ("loss:0", "nowhere", None), ("elsewhere", "loss", None),
    ],
)  # fmt: skip
def test_along_data_and_control_edges(fetch: str, node: str, needed: bool | None) -> None:
    assert was_needed(run(fetch), node) is needed


def test_what_lies_behind_a_fed_tensor_was_not_needed() -> None:
    fed = run(call=Call(1, RunKind.SESSION, ("loss:0",), {"mid:0": 1.0}))
    assert was_needed(fed, "x") is False and was_needed(fed, "mid") is True


def test_what_cannot_be_told() -> None:
    assert was_needed(run("init", python_graph=None), "loss") is None
    assert was_needed(run(), "loss") is None
    assert was_needed(run(call=Call(1, RunKind.FUNCTION, ("init",))), "loss") is None


def test_loss_after_the_initializer_was_not_optimized_away() -> None:
    """`pt loss` after sess.run(init) blamed TensorFlow's optimizer."""
    prompt = Prompt(RunEnd(run("init")))
    error = prompt.error("pt loss")
    assert error.message == "This run did not compute loss: none of its fetches (init) depends on it."
    assert "optimizer" not in error.message + error.hint
    shown = prompt.show("lt -n loss")
    assert "did not compute loss" in shown and "(init) depends on it" in shown and "optimizer" not in shown
    assert "this run did not compute it, none of its fetches (init)" in " ".join(prompt.show("ni loss").split())


def test_a_needed_node_that_is_missing_was_optimized_away() -> None:
    assert "optimizer" in Prompt(RunEnd(run("loss:0"))).error("pt mid").message


def test_many_fetches_are_shortened() -> None:
    assert not_needed_text(run("a", "b", "c", "d")) == "none of its fetches (a, b, c and 1 more) depends on it"
