"""The loops of version 1 around an op, the turn in which it ran, and the way to it through earlier turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.made_run import NAN, Op, made_run, op
from support.prompt import text_of

from tfdbg_cli.analysis.graph.flow.turns import LoopTurns
from tfdbg_cli.analysis.graph.flow.version_one_loops import Within, frames_of
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.ways.chain import chain_to
from tfdbg_cli.model.runs import Run

X = op("x", "Placeholder", value=[0.0])
START = op("zeros", "Const", value=np.zeros(1, np.float32))


def _loop(*body: Op, scope: str = "while", start: str = "zeros", left: str = "", turns: int = 3) -> tuple[Op, ...]:
    """A loop that begins with `start`, runs `body`, and begins further turns with what the op `left` gives."""
    at = f"{scope}/"
    values = [np.zeros(1, np.float32)] * turns
    return (
        op(f"{at}Enter", "Enter", start, frame_name=f"{at}while_context", value=values[0]),
        op(f"{at}Merge", "Merge", f"{at}Enter", f"{at}NextIteration", values=values),
        op(f"{at}Less", "Less", f"{at}Merge", values=[True] * turns),
        op(f"{at}LoopCond", "LoopCond", f"{at}Less", values=[True] * turns),
        op(f"{at}Switch", "Switch", f"{at}Merge", f"{at}LoopCond"),
        op(f"{at}Identity", "Identity", f"{at}Switch:1", values=values),
        *body,
        op(f"{at}NextIteration", "NextIteration", left or f"{at}Identity", values=values),
        op(f"{at}Exit", "Exit", f"{at}Switch", value=values[0]),
    )


def test_what_is_between_enter_and_exit_is_in_the_loop() -> None:
    run = made_run(X, START, *_loop(), op("after", "Neg", "while/Exit", value=[0.0]))
    frames = frames_of(run.graph)
    inside = {"Merge", "Less", "LoopCond", "Switch", "Identity", "NextIteration"}
    assert frames == {f"while/{name}": (Within("while"),) for name in inside}


def test_what_waits_for_an_op_of_a_loop_is_in_it() -> None:
    run = made_run(X, START, *_loop(op("while/one", "Const", control=("while/Identity",), values=[1.0] * 3)))
    assert frames_of(run.graph)["while/one"] == (Within("while"),)


def test_a_loop_in_a_loop() -> None:
    inner = _loop(scope="while/inner", start="while/Identity")
    frames = frames_of(made_run(X, START, *_loop(*inner, left="while/inner/Exit")).graph)
    assert frames["while/inner/Identity"] == (Within("while"), Within("while/inner"))
    assert frames["while/inner/Enter"] == frames["while/inner/Exit"] == (Within("while"),)


def test_a_branch_in_a_loop_and_what_is_behind_it() -> None:
    branch = (
        op("while/choice", "Switch", "while/Identity", "while/Less"),
        op("while/log", "Log", "while/choice:1", values=[NAN]),
        op("while/both", "Merge", "while/choice", "while/log", values=[[0.0]] * 3),
    )
    run = made_run(X, START, *_loop(*branch, left="while/both"))
    frames, turns = frames_of(run.graph), LoopTurns(run.graph, run.tensors)
    assert frames["while/log"] == (Within("while", 1),) and frames["while/both"] == (Within("while"),)
    assert turns.turn(run.tensors.named("while/log")[0]) is None  # in which turn the branch was taken is not known
    assert turns.turns_before(run.tensors.named("while/log")[0]) is None
    assert [turns.turn(row) for row in run.tensors.named("while/both")] == [0, 1, 2]


def test_turns_of_a_loop_and_of_one_in_another() -> None:
    inner = _loop(scope="while/inner", start="while/Identity")
    run = made_run(X, START, *_loop(*inner, left="while/inner/Exit"))
    turns, rows = LoopTurns(run.graph, run.tensors), run.tensors.named
    assert [turns.turn(row) for row in rows("while/Identity")] == [0, 1, 2]
    assert [turns.turns_before(row) for row in rows("while/Identity")] == [("while", 0), ("while", 1), ("while", 2)]
    assert [turns.turn(row) for row in rows("while/inner/Identity")] == [None] * 3
    before = [turns.turns_before(row) for row in rows("while/inner/Identity")]
    assert before == [("while/inner", 0), None, None]


def test_a_damaged_graph_of_circles_ends() -> None:
    frames_of(made_run(op("a", "Enter", "b"), op("b", "Merge", "a", "c"), op("c", "Exit", "b")).graph)


def _bad_in(turn: int) -> Run:
    """0 / memory in the first turns; `memory` begins as zeros, and later turns add what was fed."""
    body = (
        op("while/key", "Neg", "x", values=[[1.0]] * 3),
        op("while/quotient", "RealDiv", "while/Identity", "while/Identity", values=_values(turn)),
        op("while/add", "AddV2", "while/Identity", "while/key", values=[[1.0]] * 3),
    )
    ops = _loop(*body, left="while/add")
    names = [one.name for one in ops]
    order = ["x", "zeros", *names[:1], *[name for _ in range(3) for name in names[1:-1] if name != "while/Switch"]]
    return made_run(X, START, *ops, order=[*order, names[-1]])


def _values(turn: int) -> Sequence[Sequence[float]]:
    return [[NAN] if at == turn else [1.0] for at in range(3)]


@pytest.mark.parametrize(
    ("turn", "begins"), [(0, []), (1, ["x:0", "while/key:0"]), (2, ["x:0", "while/key:0"])], ids=["1", "2", "3"]
)
def test_the_way_to_a_first_turn_does_not_come_by_the_way_back(turn: int, begins: list[str]) -> None:
    """A blind test: the chain to a first turn led through what only the next one is given."""
    run = _bad_in(turn)
    row = run.tensors.named("while/quotient")[turn]
    chain = chain_to(run, Lineage(run), run.graph.node("while/quotient"), 0, row=row)
    assert [str(link.tensor) for link in chain][: len(begins)] == begins and bool(chain) == bool(begins)


def test_origin_tells_the_first_turn_of_a_loop_and_begins_the_chain_with_its_variable() -> None:
    """A blind test: of the first turn nothing was said, and the chain began with what is not 0's cause."""
    text = text_of("origin", _bad_in(0))
    assert "Turn      1 of the loop while" in text
    assert "Chain     while/Merge" in text and "x →" not in text
    assert "Turn      2 of the loop while" in text_of("origin", _bad_in(1))
