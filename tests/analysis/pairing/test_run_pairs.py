"""Which run of one recording stands beside which of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.pairing.run_pairs import paired_runs
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run


def _run(number: int, function: str = "step", *, trains: bool = False, kind: RunKind = RunKind.FUNCTION) -> Run:
    gradient = [op("gradient_tape/y", "ReluGrad", "y", value=np.ones(2))] if trains else []
    run = made_run(op("x", "Placeholder", value=np.ones(2)), op("y", "Relu", "x", value=np.ones(2)), *gradient)
    return replace(run, call=replace(run.call, number=number, kind=kind, function=function))


def _runs(*numbers: int) -> list[Run]:
    return [_run(number) for number in numbers]


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ((1, 2, 3), (1, 2, 3), [(0, 0), (1, 1), (2, 2)]),
        ((1, 2, 3, 4), (2, 4), [(1, 0), (3, 1)]),
        ((5, 6), (1, 2), [(0, 0), (1, 1)]),
        ((7,), (1,), [(0, 0)]),
        ((1, 1, 2), (1, 2), [(0, 0), (1, 1)]),
    ],
    ids=["same", "every other", "renumbered", "one", "of two workers"],
)
def test_by_number_else_by_order(
    first: tuple[int, ...], second: tuple[int, ...], pairs: list[tuple[int, int]]
) -> None:
    assert paired_runs(_runs(*first), _runs(*second), None) == pairs


def test_runs_of_other_kinds_between_do_not_shift_the_rest() -> None:
    steps = [_run(number, trains=True) for number in range(1, 5)]
    evaluated = [_run(1, trains=True), _run(2, trains=True), _run(3), _run(4, trains=True), _run(5, trains=True)]
    assert paired_runs(steps, evaluated, None) == [(0, 0), (1, 1), (2, 3), (3, 4)], "Keras calls both the same"
    called_first = [_run(1, "predict"), *(_run(number + 1, trains=True) for number in range(1, 5))]
    assert paired_runs(steps, called_first, None) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    eager = [_run(number, kind=RunKind.EAGER) for number in range(1, 5)]
    assert paired_runs(steps, eager, None) == [(at, at) for at in range(4)], "no kind is in both"


def test_as_many_runs_that_are_counted_otherwise_are_paired_in_their_order() -> None:
    """A blind test: the run that initializes variables was the first of the session, so all were one step off."""
    session = [_run(number, kind=RunKind.SESSION) for number in (2, 3, 4)]
    assert paired_runs(_runs(1, 2, 3), session, None) == [(0, 0), (1, 1), (2, 2)]
    assert paired_runs(_runs(1, 2, 3, 4), session, None) == [(1, 0), (2, 1), (3, 2)], "not as many: by number"
    assert paired_runs(_runs(1, 2, 3), _runs(2, 3, 4), None) == [(1, 0), (2, 1)], "counted alike"


def test_a_number_that_is_asked_for() -> None:
    assert paired_runs(_runs(1, 2, 3), _runs(3, 2), 3) == [(2, 0)]
    with pytest.raises(TfdbgError, match="There is no run #1 in B"):
        paired_runs(_runs(1, 2, 3), _runs(3, 2), 1)


def test_runs_of_quite_other_numbers_are_said_to_be_so() -> None:
    assert compared_recordings(_runs(5, 6), _runs(1, 2)).renumbered
    assert not compared_recordings(_runs(1, 2), _runs(2, 3)).renumbered


def test_several_calls_are_not_put_beside_turns_of_a_loop() -> None:
    calls = [_run(number, "discriminate" if number % 2 else "generate") for number in range(1, 5)]
    turns = [_run(number, "train", kind=RunKind.EAGER) for number in range(1, 3)]
    with pytest.raises(TfdbgError, match=r"cannot be told: A has 4 \(tf.function\), B has 2 \(eager\)") as refused:
        paired_runs(calls, turns, None)
    assert refused.value.exit_code == 2
    assert paired_runs(calls[:2], turns, None) == [(0, 0), (1, 1)], "as many"
    assert paired_runs(calls[::2], turns[:1], None) == [(0, 0)], "of one function"


def test_a_function_that_runs_eagerly_on_request_is_the_same_call() -> None:
    before = _run(1, "train.py from line 3 on", trains=True, kind=RunKind.EAGER)
    graph = [_run(2, trains=True), before, _run(3, trains=True)]
    eager = [_run(number, trains=True, kind=RunKind.EAGER) for number in (2, 3)]
    assert paired_runs(graph, [*eager, before], None) == [(0, 0), (1, 2), (2, 1)]


def test_a_step_that_is_called_otherwise_where_it_runs_eagerly_is_the_rest_of_both() -> None:
    before = _run(1, "train.py from line 3 on", trains=True, kind=RunKind.EAGER)
    graph = [before, *(_run(number, "multi_step_on_iterator", trains=True) for number in (2, 3))]
    eager = [before, *(_run(number, "train_step", trains=True, kind=RunKind.EAGER) for number in (2, 3))]
    assert paired_runs(graph, eager, None) == [(0, 0), (1, 1), (2, 2)]
    other = [before, _run(2, "train_step", trains=True), _run(3, "test_step")]
    assert paired_runs(graph, other, None) == [(0, 0)], "which of two kinds it is cannot be told"
