"""The turn of a loop in which an op in a branch ran, and what it read there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.graph.flow.turns import LoopTurns
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import gone

BODY = "while/body"
IF, CASE = f"{BODY}/cond", f"{BODY}/case"


def _turns(run: Run, node: str) -> list[int | None]:
    turns = LoopTurns(run.graph, run.tensors)
    return [turns.turn(row) for row in run.tensors.named(node)]


def _loop(*inside: Op, first: Sequence[Op] = (), loops: int = 1) -> Run:
    return made_run(*first, *inside, op("while", "While", "x", values=[1.0] * loops))


def _if(chosen: Sequence[Any], *, name: str = IF, by: str = f"{BODY}/chosen") -> list[Op]:
    """An If in each turn, and one op in each of its branches."""
    taken = [bool(one) for one in chosen]
    return [
        op(f"{name}/true/Log", "Log", "x", values=[-INF] * sum(taken)),
        op(f"{name}/false/Exp", "Exp", "x", values=[1.0] * (len(taken) - sum(taken))),
        op(name, "StatelessIf", by, f"{name}/true/Log", f"{name}/false/Exp", values=[1.0] * len(taken)),
    ]


def _case(chosen: Sequence[int], ran: Sequence[int], **attributes: str) -> Run:
    """A Case in each turn, whose branches ran as often as `ran` tells."""
    branches = [op(f"{CASE}/branch{i}/Neg", "Neg", "x", values=[1.0] * n) for i, n in enumerate(ran)]
    return _loop(
        op(f"{BODY}/number", "Cast", "x", values=[np.int32(number) for number in chosen]),
        *branches,
        op(CASE, "Case", f"{BODY}/number", *(one.name for one in branches), values=[1.0] * len(chosen), **attributes),
    )


def _chosen(values: Sequence[Any], name: str = f"{BODY}/chosen") -> Op:
    return op(name, "Equal", "x", values=list(values))


def test_an_op_of_the_body_runs_in_every_turn() -> None:
    assert _turns(_loop(op(f"{BODY}/add", "Add", "x", values=[1.0] * 3)), f"{BODY}/add") == [0, 1, 2]


def test_an_op_of_a_branch_runs_in_the_turns_that_choose_it() -> None:
    chosen = [False, True, False, False, True]
    run = _loop(_chosen(chosen), *_if(chosen))
    assert _turns(run, f"{IF}/true/Log") == [1, 4]
    assert _turns(run, f"{IF}/false/Exp") == [0, 2, 3]


def test_what_counts_as_true() -> None:
    chosen = [np.int32(0), np.int32(7), np.zeros(0, np.float32), np.zeros(2, np.float32)]
    branches = [op(f"{IF}/true/Log", "Log", "x", values=[-INF] * 2), op(IF, "If", f"{BODY}/chosen", values=[1.0] * 4)]
    assert _turns(_loop(_chosen(chosen), *branches), f"{IF}/true/Log") == [1, 3]


def test_a_case_takes_its_last_branch_for_a_number_that_names_none() -> None:
    run = _case([0, 1, 7, 0, -1], (2, 1, 2), branches="[f, g, h]")
    assert [_turns(run, f"{CASE}/branch{i}/Neg") for i in range(3)] == [[0, 3], [1], [2, 4]]


def test_a_case_of_many_branches() -> None:
    many = "[a, b, c, d, e, f, g, h, … 12 in all]"
    assert _turns(_case([1, 0, 20, 11], (1, 1), branches=many), f"{CASE}/branch0/Neg") == [1]


def test_a_case_whose_branches_nobody_counted_is_not_told() -> None:
    assert _turns(_case([0, 1], (1, 1)), f"{CASE}/branch1/Neg") == [None]


def test_a_branch_in_a_branch() -> None:
    outer, inner = [True, False, True, True], [False, True, False]
    name = f"{IF}/true/cond"
    nested = _if(inner, name=name, by=f"{IF}/true/chosen")
    run = _loop(_chosen(outer), _chosen(inner, f"{IF}/true/chosen"), *nested, *_if(outer))
    assert _turns(run, f"{name}/true/Log") == [2]
    assert _turns(run, f"{name}/false/Exp") == [0, 3]


def test_an_inner_branch_chosen_by_what_the_body_computed() -> None:
    outer, of_body = [True, False, True, True], [False, True, False, True]
    name = f"{IF}/true/cond"
    nested = _if([False, False, True], name=name, by=f"{BODY}/other")
    run = _loop(_chosen(outer), _chosen(of_body, f"{BODY}/other"), *nested, *_if(outer))
    assert _turns(run, f"{name}/true/Log") == [3]
    assert _turns(run, f"{name}/false/Exp") == [0, 2]


def test_a_branch_chosen_before_the_loop_is_that_of_every_turn() -> None:
    run = _loop(*_if([True] * 3, by="always"), first=[op("always", "Equal", "x", value=True)])
    assert _turns(run, f"{IF}/true/Log") == [0, 1, 2]


@pytest.mark.parametrize("chosen", [[], [False], [gone("no room"), True]])
def test_a_turn_before_which_it_is_not_known_what_was_chosen_is_not_told(chosen: list[Any]) -> None:
    run = _loop(_chosen(chosen), *_if([False, True]))
    assert _turns(run, f"{IF}/true/Log") == [None]


def test_turns_of_two_loops_and_of_a_loop_that_ran_twice_are_not_told() -> None:
    inner = f"{BODY}/while/body/add"
    nested = (op(inner, "Add", "x", values=[1.0] * 2), op(f"{BODY}/while", "While", "x", value=1.0))
    assert _turns(_loop(*nested), inner) == [None, None]
    assert _turns(_loop(op(f"{BODY}/add", "Add", "x", values=[1.0] * 4), loops=2), f"{BODY}/add") == [None] * 4
    assert _turns(made_run(op("add", "Add", "x", value=1.0)), "add") == [None]


LATE = (
    op("x", "Const", value=4.0),
    op(f"{BODY}/v", "LoopVariable", "x", CASE, values=(4.0, 8.0, INF)),
    op(f"{BODY}/number", "Cast", "x", values=[np.int32(0), np.int32(1), np.int32(0)]),
    op(f"{CASE}/branch0/Mul", "Mul", f"{BODY}/v", values=(8.0, NAN)),
    op(f"{CASE}/branch1/Log", "Log", f"{BODY}/v", values=(INF,)),
    op(
        CASE, "Case", f"{BODY}/number", f"{CASE}/branch0/Mul", f"{CASE}/branch1/Log", values=(8.0, INF, NAN),
        branches="[f, g]",
    ),
    op("while", "While", CASE, value=NAN),
)  # fmt: skip
# What the branches computed comes after the Case that took them, and after the turn behind it.
ORDER = (
    "x", f"{BODY}/v", f"{BODY}/number", CASE, f"{BODY}/v", f"{BODY}/number", CASE, f"{CASE}/branch0/Mul",
    f"{BODY}/v", f"{BODY}/number", f"{CASE}/branch1/Log", CASE, f"{CASE}/branch0/Mul", "while",
)  # fmt: skip


def _read(run: Run, node: str, execution: int) -> dict[str, int | str]:
    items = Lineage(run).inputs(run.tensors.named(node)[execution])
    return {item.name.node: item.note if item.index is None else run.tensors[item.index].execution for item in items}


@pytest.mark.parametrize("order", [ORDER, ()])
def test_inputs_across_a_branch_are_those_of_the_same_turn(order: tuple[str, ...]) -> None:
    run = made_run(*LATE, order=order)
    number, first, second = f"{BODY}/number", f"{CASE}/branch0/Mul", f"{CASE}/branch1/Log"
    other = "in a branch that this turn of the loop did not take"
    assert _read(run, second, 0) == {f"{BODY}/v": 1}
    assert _read(run, first, 1) == {f"{BODY}/v": 2}
    if order:
        assert _read(run, CASE, 0) == {number: 0, first: 0, second: other}
        assert _read(run, CASE, 1) == {number: 1, first: other, second: 0}
        assert _read(run, CASE, 2) == {number: 2, first: 1, second: other}


def test_the_origin_is_in_the_branch_that_was_taken() -> None:
    found = OriginSearch(made_run(*LATE, order=ORDER)).first()
    assert found is not None and found.name.node == f"{CASE}/branch1/Log"


def test_a_tensor_of_the_same_turn_that_nobody_kept() -> None:
    run = made_run(*(*LATE[:4], op(f"{CASE}/branch1/Log", "Log", f"{BODY}/v"), *LATE[5:]))
    assert _read(run, CASE, 1)[f"{CASE}/branch1/Log"] == "not captured (folded by the optimizer, or left out)"
