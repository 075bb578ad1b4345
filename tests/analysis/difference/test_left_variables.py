"""Variables in the next run: what rounding made of them in the runs before is no divergence of the next one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

ONE = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
OFF = np.float32(4e-4)


def _step(number: int, held: Array, change: Array, *, adds: bool = True, read_again: bool = False) -> Run:
    """A step that reads `w`, and adds `change` to it, or puts that into it."""
    assign = "AssignAddVariableOp" if adds else "AssignVariableOp"
    left = held + change if adds else change
    again = [op("again", "ReadVariableOp", "w", control=("assign",), value=left)] if read_again else []
    run = made_run(
        op("w", "VarHandleOp"), op("x", "Exp", value=change), op("change", "Neg", "x", value=change),
        op("read", "ReadVariableOp", "w", value=held), op("used", "Square", "read", value=held * held),
        op("assign", assign, "w", "change"), *again,
        op("w/after_update", "UpdatedVariable", "w", "change", value=left),
    )  # fmt: skip
    return replace(run, call=replace(run.call, number=number))


def _trained(off: Array, between: Array, *, steps: int = 2) -> list[Run]:
    """Two steps; `off` is added to the first change, `between` to what the variable holds between them."""
    first = _step(1, ONE, ONE + off)
    return [first, _step(2, ONE + (ONE + off) + between, ONE)][:steps]


def _states(found: Comparison) -> dict[str, TensorFate]:
    return {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}


NOTHING = np.zeros(4, np.float32)


def test_what_rounding_left_in_a_variable_is_no_divergence_of_the_next_run() -> None:
    ours, theirs = _trained(NOTHING, NOTHING), _trained(ONE * np.float32(1e-7), NOTHING)
    rounded = compared_recordings(ours, theirs)
    assert rounded.comparison.same and rounded.count == 2
    grown = np.array([0, 0, 0, OFF], np.float32)
    before = compared_runs(_step(1, ONE, ONE), _step(1, ONE, ONE + grown))
    assert _states(before)["w/after_update"] in {TensorFate.GROWN, TensorFate.FOLLOWS}
    alone = compared_runs(_trained(NOTHING, NOTHING)[1], _trained(grown, NOTHING)[1])
    assert _states(alone)["read"] is TensorFate.NEW, "nothing is known of the run before"
    found = compared_runs(_trained(NOTHING, NOTHING)[1], _trained(grown, NOTHING)[1], left=before.left)
    assert _states(found)["read"] is TensorFate.GROWN and found.same
    assert _states(found)["w/after_update"] is TensorFate.GROWN, "what it held counts, beside what was added"


def test_what_changed_a_variable_between_the_runs_is_a_divergence() -> None:
    grown = np.array([0, 0, 0, OFF], np.float32)
    before = compared_runs(_step(1, ONE, ONE), _step(1, ONE, ONE + grown))
    found = compared_runs(_trained(NOTHING, NOTHING)[1], _trained(grown, ONE)[1], left=before.left)
    assert found.first is not None and _states(found)["read"] is TensorFate.NEW
    assert _states(found)["w/after_update"] is TensorFate.FOLLOWS


@pytest.mark.parametrize("adds", [True, False])
def test_what_a_variable_held_counts_where_it_is_added_to_and_not_where_it_is_replaced(adds: bool) -> None:
    def run(held: Array) -> Run:
        return _step(1, held, ONE, adds=adds, read_again=True)

    found = compared_runs(run(ONE), run(ONE * 2))
    states = _states(found)
    assert states["read"] is TensorFate.NEW
    assert (states.get("again"), states.get("w/after_update")) == (
        (TensorFate.FOLLOWS,) * 2 if adds else (None, None)
    )


def test_an_op_that_makes_no_more_of_a_large_error_than_it_may_has_no_divergence_of_its_own() -> None:
    """After dozens of steps in coarse types what rounding left is large, and its square half as large again."""
    small = np.array([1.0, 0.8, 0.6], np.float32)

    def run(given: Array) -> Run:
        return made_run(op("w", "VarHandleOp"), op("read", "ReadVariableOp", "w", value=given),
                        op("square", "Square", "read", value=given * given))  # fmt: skip

    left = compared_runs(
        made_run(op("w", "VarHandleOp"), op("w/after_update", "UpdatedVariable", "w", value=small)),
        made_run(op("w", "VarHandleOp"), op("w/after_update", "UpdatedVariable", "w", value=small * np.float32(0.6))),
    ).left
    found = compared_runs(run(small), run(small * np.float32(0.6)), left=left)
    assert _states(found) == {"read": TensorFate.GROWN, "square": TensorFate.GROWN}


@pytest.mark.parametrize(
    ("between", "state"), [(3e-4, TensorFate.GROWN), (3e-3, TensorFate.NEW)], ids=["within", "beyond"]
)
def test_where_the_variables_recorded_are_not_those_kept_they_may_lie_that_far_apart(
    between: float, state: TensorFate
) -> None:
    """A function that XLA compiles is made again without it: what is recorded is not what the program kept."""
    differs = (Parting("w", 4, max_abs=4e-4, max_ulp=100),)
    made_again = replace(_step(1, ONE, ONE), exactness=Exactness(ExecutionWay.UNCHANGED, 3, differs))
    before = compared_runs(_step(1, ONE, ONE), made_again)
    assert before.same
    kept = np.array([0, 0, 0, between], np.float32)
    second, other = _step(2, 2 * ONE, ONE), _step(2, 2 * ONE + kept, ONE)
    assert _states(compared_runs(second, other))["read"] is TensorFate.NEW
    assert _states(compared_runs(second, other, left=before.left))["read"] is state
