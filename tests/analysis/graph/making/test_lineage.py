"""What a tensor was computed from: in loops the value of the right turn, and the right reason where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.runs import Run


def _read(run: Run, node: str, execution: int) -> list[tuple[str, int]]:
    index = run.tensors.named(node)[execution]
    items = Lineage(run).inputs(index)
    return [(str(item.name), run.tensors[item.index].execution) for item in items if item.index is not None]


LOOP = (
    op("start", "Const", value=1.0),
    op("while/body/v", "LoopVariable", "start", "while/body/add", values=(1.0, 2.0, 3.0)),
    op("while/body/add", "AddV2", "while/body/v", "start", values=(2.0, 3.0, 4.0)),
    op("while", "While", "while/body/add", "start", value=4.0),
)
TURN = ("while/body/v", "while/body/add")


def test_defect_the_variable_of_a_loop_reads_the_start_and_then_the_turn_before() -> None:
    """It was paired with what the same turn made of it."""
    run = made_run(*LOOP, order=("start", *TURN * 3, "while"))
    assert _read(run, "while/body/v", 0) == [("start:0", 0)]
    assert _read(run, "while/body/v", 1) == [("while/body/add:0", 0)]
    assert _read(run, "while/body/v", 2) == [("while/body/add:0", 1)]
    assert _read(run, "while/body/add", 2) == [("while/body/v:0", 2), ("start:0", 0)]


def test_a_second_call_of_a_loop_begins_with_its_start() -> None:
    twice = (*LOOP[:3], op("while", "While", "while/body/add", "start", values=(3.0, 4.0)))
    run = made_run(*twice, order=("start", *TURN * 2, "while", *TURN, "while"))
    assert _read(run, "while/body/v", 2) == [("start:0", 0)]


def test_variables_that_change_places_read_the_turn_before() -> None:
    run = made_run(
        op("one", "Const", value=1.0), op("two", "Const", value=2.0),
        op("while/body/a", "LoopVariable", "one", "while/body/b", values=(1.0, 2.0, 1.0)),
        op("while/body/b", "LoopVariable", "two", "while/body/a", values=(2.0, 1.0, 2.0)),
        op("while", "While", "while/body/b", value=1.0),
        order=("one", "two", *("while/body/a", "while/body/b") * 3, "while"),
    )  # fmt: skip
    assert _read(run, "while/body/a", 0) == [("one:0", 0)]
    assert _read(run, "while/body/b", 0) == [("two:0", 0)]
    assert _read(run, "while/body/a", 2) == [("while/body/b:0", 1)]
    assert _read(run, "while/body/b", 2) == [("while/body/a:0", 1)]


@pytest.mark.parametrize(
    ("kind", "failed", "note"),
    [
        (GraphKind.RUNTIME, False, "folded by the optimizer"),
        (GraphKind.PYTHON, False, "not needed, or left out"),
        (GraphKind.PYTHON, True, "not given back, since the call failed"),
    ],
)
def test_defect_the_wrong_reason_for_a_missing_input(kind: GraphKind, failed: bool, note: str) -> None:
    """After an error in a function its values were said to be folded by the optimizer."""
    run = made_run(op("x", "Placeholder", value=1.0), op("n", "Neg", "x"), op("log", "Log", "n"))
    error = RunError("InvalidArgumentError", "bad", "log") if failed else None
    call = replace(run.call, kind=RunKind.FUNCTION if kind is GraphKind.PYTHON else RunKind.SESSION)
    run = replace(run, graph=Graph(list(run.graph), kind), error=error, call=call)
    (item,) = Lineage(run).inputs_of_node(run.graph.node("log"))
    assert note in item.note


def test_a_node_without_namesakes_is_followed_wherever_it_ran() -> None:
    """A blind test: in the replay of a worker's run, on a machine of its own, every node seemed to begin anew."""
    run = made_run(op("n", "Const", value=0.0), op("log", "Log", "n", value=float("-inf")))
    task = "/job:worker/replica:0/task:1/device:CPU:0"
    run = replace(run, graph=Graph([node._replace(device=task) for node in run.graph], run.graph.kind))
    assert _read(run, "log", 0) == [("n:0", 0)]


@pytest.mark.parametrize(
    "asked", ["/job:localhost/replica:0/task:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:*"]
)
def test_a_program_that_asks_for_a_part_of_a_device_shows_what_ran_there(asked: str) -> None:
    """tf.numpy_function asks for the task alone, `tf.device("/CPU:0")` for no task."""
    run = made_run(op("x", "PyFunc", value=0.0), op("log", "Log", "x", value=float("-inf")))
    nodes = [node._replace(device=asked) for node in run.graph]
    assert _read(replace(run, graph=Graph(nodes, GraphKind.PYTHON)), "log", 0) == [("x:0", 0)]
