"""Which side of a condition ran, as the value that chose it tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.graph.flow.branches import Taken, taken_branches
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe, gone


def _taken(run: Run, node: str) -> Taken | None:
    return taken_branches(run.graph, run.tensors, run.graph.node(node))


def _conditional(*chosen: Any, op_type: str = "StatelessIf") -> Run:
    sides = [op(f"cond/{side}/Neg", "Neg", "x") for side in ("true", "false_1")]
    return made_run(
        op("chosen", "Greater", "x", values=chosen),
        *sides,
        op("cond", op_type, "chosen", *(one.name for one in sides), values=[1.0] * len(chosen)),
    )


@pytest.mark.parametrize(
    ("chosen", "branch", "other"),
    [
        (True, "true", "cond/false_1/Neg"),
        (False, "false", "cond/true/Neg"),
        (np.float32(3), "true", "cond/false_1/Neg"),
    ],
)
def test_one_side_ran(chosen: Any, branch: str, other: str) -> None:
    taken = _taken(_conditional(chosen), "cond")
    assert taken is not None
    assert taken.times == {branch: 1}
    assert taken.chooser == TensorName("chosen", 0)
    assert taken.left_out(TensorName(other, 0))
    assert not taken.left_out(TensorName("chosen", 0))


def test_in_a_loop_each_is_counted() -> None:
    taken = _taken(_conditional(True, False, True, op_type="If"), "cond")
    assert taken is not None and taken.times == {"true": 2, "false": 1} and not taken.untold
    assert not taken.left_out(TensorName("cond/true/Neg", 0))


def test_a_value_that_is_gone_leaves_it_open() -> None:
    assert _taken(_conditional(gone("deleted")), "cond") is None
    partly = _taken(_conditional(True, gone("deleted")), "cond")
    assert partly is not None and partly.untold == 1
    assert not partly.left_out(TensorName("cond/false_1/Neg", 0)), "the other time may have taken it"


def test_a_case_is_told_by_its_number() -> None:
    def case(number: int) -> Taken | None:
        run = made_run(
            op("number", "Const", value=np.int32(number)),
            *(op(f"case/branch{i}/Neg", "Neg", "x") for i in range(3)),
            op("case", "Case", "number", *(f"case/branch{i}/Neg" for i in range(3)), branches="[f, g, h]", value=1.0),
        )
        return _taken(run, "case")

    first, last = case(0), case(7)
    assert first is not None and first.times == {"branch0": 1}
    assert last is not None and last.times == {"branch2": 1}


def test_what_a_side_that_did_not_run_holds_took_nothing() -> None:
    run = made_run(
        op("outer", "Greater", value=False),
        op("inner", "Greater", value=True),
        op("cond/true/cond/true/Neg", "Neg", "x"),
        op("cond/true/cond", "If", "inner", "cond/true/cond/true/Neg"),
        op("cond/true/out", "Identity", "cond/true/cond"),
        op("cond/false/out", "Identity", "x"),
        op("cond", "If", "outer", "cond/true/out", "cond/false/out", value=1.0),
    )
    assert _taken(run, "cond/true/cond") is None
    assert _taken(run, "outer") is None, "no condition"


def _merged(index: Any) -> Taken | None:
    run = made_run(op("Log", "Log", value=1.0), op("Exp", "Exp"), op("Merge", "Merge", "Log", "Exp"))
    row = describe(TensorName("Merge", 1), index, device="", op_type="Merge", dtype=index.dtype.name)
    return _taken(replace(run, tensors=MemoryTensorStore([row], [index])), "Merge")


def test_a_merge_says_what_came_through() -> None:
    taken = _merged(np.array(0, np.int32))
    assert taken is not None and taken.times == {"Log:0": 1}
    assert taken.left_out(TensorName("Exp", 0)) and not taken.left_out(TensorName("Log", 0))


@pytest.mark.parametrize("index", [7, -1, 1j, np.nan, [0, 1]])
def test_a_damaged_merge_says_nothing(index: Any) -> None:
    assert _merged(np.array(index)) is None
