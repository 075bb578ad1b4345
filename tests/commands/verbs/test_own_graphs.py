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
    assert told["two"][0] == "folded", "what read it is a constant now"
    assert {told[name][0] for name in ("times", "scale", "plus", "zero")} == {"pruned"}, "x is no constant"
    assert told["far"] == ("moved", f"/device:GPU:0 → {_CPU}")
    assert told["out"][0] == "reads others" and told["log/unary_ops_composition"][0] == "added"
    assert "x" not in told and "arg_x" not in told and "unneeded" not in told


def test_what_the_run_did_not_need_is_counted() -> None:
    shown = Prompt(_run()).show("diff --graphs", 120)
    assert "Left out of A: 1 node that the run did not need." in shown
    assert "the Python graph, 11 nodes" in shown and "the runtime graph, 5 nodes" in shown


def test_without_a_second_graph_there_is_nothing_to_compare() -> None:
    run = replace(_run(), python_graph=None)
    refused = Prompt(run).error("diff --graphs")
    assert refused.message.startswith("There is no other run")
    assert refused.message.endswith("no second graph is known.") and "--graph" in refused.hint


def _changed(written: list[Node], ran: list[Node], fetch: str, feeds: tuple[str, ...] = ()) -> Run:
    call = Call(1, RunKind.SESSION, (fetch,), dict.fromkeys(feeds))
    return Run(call, graph=Graph(ran), python_graph=Graph(written, GraphKind.PYTHON))


def test_what_cannot_be_a_constant_was_pruned() -> None:
    """A blind test: whatever was gone was called folded."""
    written = [
        _node("x", "Placeholder"), _node("shape", "Shape", "x"), _node("again", "Shape", "x"),
        _node("rank", "Rank", "x"), _node("ones", "Fill", "rank"), _node("kept", "Identity", "ones"),
        _node("one", "Const"), _node("size", "Prod", "shape", "one"), _node("other", "Prod", "again", "one"),
        _node("draw", "RandomUniform", "one"), _node("unused", "Neg", "draw"),
        _node("out", "AddN", "size", "other", "kept", "x"),
    ]  # fmt: skip
    written[-1] = written[-1]._replace(control_inputs=("unused",))
    ran = [
        _node("_arg_x_0_0", "_Arg"), _node("shape", "Shape", "_arg_x_0_0"), _node("one", "Const"),
        _node("size", "Prod", "shape", "one"), _node("other", "Prod", "shape", "one"), _node("kept", "Const"),
        _node("out", "AddN", "size", "other", "kept", "_arg_x_0_0"),
    ]  # fmt: skip
    told = _told(_changed(written, ran, "out:0", ("x:0",)))
    assert told == {
        "again": ("pruned", ""),  # another one gives the same
        "draw": ("pruned", ""),
        "unused": ("pruned", ""),
        "ones": ("folded", ""),
        "rank": ("folded", ""),
        "kept": ("folded", "Identity → Const"),
        "other": ("reads others", "again:0, one:0 → shape:0, one:0"),
    }


def test_a_feed_is_itself_under_the_name_that_the_runtime_gives_it() -> None:
    written = [_node("x", "Placeholder"), _node("log", "Log", "x")]
    run = _changed(written, [_node("_arg_x_0_0", "_Arg"), _node("log", "Log", "_arg_x_0_0")], "log:0", ("x:0",))
    assert _told(run) == {}
    assert "The graphs are the same." in Prompt(run).show("diff --graphs", 120)


def test_what_tfdbg_and_its_dump_did_is_told_as_such() -> None:
    ways = {"frame_name": "loop", "parallel_iterations": "10"}
    written = [_node("c", "Const"), _node("enter", "Enter", "c")._replace(attributes=ways)]
    ran = [
        _node("c", "Const"), _node("enter", "Enter", "c")._replace(attributes=ways | {"parallel_iterations": "1"}),
        _node("v/after_update", "UpdatedVariable"),
    ]  # fmt: skip
    run = _changed(written, ran, "enter:0")
    assert _told(run) == {}
    shown = Prompt(run).show("diff --graphs", 120)
    assert "the runtime graph, 2 nodes" in shown
    assert "Loops make one turn after the other (parallel_iterations 1): the dump" in shown
