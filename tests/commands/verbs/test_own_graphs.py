"""`diff --graphs` of one run: what the runtime made of the graph that the program built."""

from __future__ import annotations

from dataclasses import replace

from support.prompt import Prompt

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run

_FUSED = "log/unary_ops_composition"
_NAMES = {"op_names": "[Relu, Log]"}
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def _node(name: str, op: str, *inputs: str, device: str = "") -> Node:
    return Node(name, op, device, tuple(TensorName(read, 0) for read in inputs))


def _run() -> Run:
    written = Graph(
        [
            _node("x", "Placeholder"),
            _node("scale", "Const"),
            _node("times", "Mul", "x", "scale"),
            _node("relu", "Relu", "times"),
            _node("zero", "Const"),
            _node("plus", "AddV2", "relu", "zero"),
            _node("log", "Log", "plus"),
            _node("two", "Const"),
            _node("six", "Mul", "two", "two"),
            _node("out", "Add", "log", "six", device="/device:CPU:0"),
            _node("far", "Neg", "out", device="/device:GPU:0"),
            _node("unneeded", "Exp", "out"),
        ],
        GraphKind.PYTHON,
    )
    ran = Graph(
        [
            _node("arg_x", "_Arg", device=_CPU),
            _node("log/unary_ops_composition", "_UnaryOpsComposition", "arg_x", device=_CPU)._replace(
                attributes=_NAMES
            ),
            _node("six", "Const", device=_CPU),
            _node("out", "Add", "log/unary_ops_composition", "six", device=_CPU),
            _node("far", "Neg", "out", device=_CPU),
        ]
    )
    return Run(Call(1, RunKind.SESSION, ("far:0",), {"x:0": None}), graph=ran, python_graph=written)


def _told(run: Run) -> dict[str, tuple[str, str]]:
    rows = Prompt(run).data("diff --graphs")["graphs"]
    return {row["a"] or row["b"]: (row["what"], row["text"]) for row in rows}


def test_each_op_has_its_fate() -> None:
    told = _told(_run())
    into = "into log/unary_ops_composition"
    assert {name: told[name] for name in ("relu", "log")} == {"relu": ("fused", into), "log": ("fused", into)}
    assert told["six"] == ("folded", "Mul → Const")
    assert {told["two"][0], told["plus"][0], told["zero"][0]} == {"folded"}
    assert told["far"] == ("moved", f"/device:GPU:0 → {_CPU}")
    assert told["out"][0] == "reads others" and told["log/unary_ops_composition"][0] == "added"
    assert "x" not in told and "arg_x" not in told and "unneeded" not in told


def test_what_the_run_did_not_need_is_counted() -> None:
    shown = Prompt(_run()).show("diff --graphs", 120)
    assert "Left out of A: 1 node that the run did not need." in shown
    assert "the Python graph, 11 nodes" in shown and "the runtime graph, 5 nodes" in shown


def test_without_a_second_graph_there_is_nothing_to_compare() -> None:
    run = replace(_run(), python_graph=None)
    assert "There is no other run" in Prompt(run).error("diff --graphs").message
