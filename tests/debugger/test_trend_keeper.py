"""Norms that are kept over a whole training."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import json_of, links_of, text_of
from support.trained_steps import training_step

from tfdbg_cli.analysis.many_runs.trends import Trends, trends
from tfdbg_cli.debugger.trend_keeper import TrendKeeper
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.series import Quantity, Series


def _run(number: int, scale: float, function: str = "train_step") -> Run:
    """A step whose weight has the norm 5 * `scale`."""
    return training_step(number, [3 * scale, 4 * scale], [scale, 0.0], [2 * scale, 4 * scale], function)


def _kept(*runs: Run, every: int = 1) -> TrendKeeper:
    keeper = TrendKeeper()
    keeper.begin(every)
    for run in runs:
        if keeper.wants("session"):
            keeper.take(run)
    return keeper


def test_the_same_numbers_as_of_all_runs_together() -> None:
    runs = [_run(1, 1.0), _run(2, 10.0), _run(3, 100.0)]
    (kept,) = _kept(*runs).series.values()
    assert kept and tuple(kept) == trends(runs).series


def test_one_run_in_many_and_none_that_failed() -> None:
    failed = replace(_run(5, 1.0), error=RunError("ValueError", "no"))
    (kept,) = _kept(_run(1, 1.0), _run(2, 1.0), _run(3, 1.0), _run(4, 1.0), failed, every=2).series.values()
    assert {one.steps for one in kept} == {(1, 3)}
    assert not TrendKeeper().on and not TrendKeeper().wants("session")


def test_a_series_that_is_full_lets_go_of_every_second_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfdbg_cli.debugger.trend_keeper._MOST", 4)
    (kept,) = _kept(*(_run(number, 1.0) for number in range(1, 8))).series.values()
    assert kept[0].steps == (1, 5, 7)


def test_a_run_more_copies_none_of_the_numbers_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: after 10,000 runs each one more copied 20,000 numbers of each layer: 18 ms."""

    def one_number(runs: Sequence[Run]) -> Trends:
        return Trends((Series("dense", Quantity.WEIGHT, (runs[0].call.number,), (1.0,)),))

    monkeypatch.setattr("tfdbg_cli.debugger.trend_keeper.trends", one_number)
    run, keeper = _run(1, 1.0), TrendKeeper()
    for _ in range(9_000):
        keeper.take(run)
    copies = 9_000 * np.dtype(np.intp).itemsize  # bytes of one copy of all steps
    taken = 0
    tracemalloc.start()
    try:
        for _ in range(100):
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            keeper.take(run)
            taken += tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert taken < 10 * copies, "lists that grow are moved now and then"


def test_what_was_told_of_a_series_stays_as_it_was() -> None:
    keeper = _kept(_run(1, 1.0))
    (told,) = keeper.series.values()
    keeper.take(_run(2, 10.0))
    assert {one.steps for one in told} == {(1,)}


def test_at_a_stop_they_stand_before_the_run_at_hand() -> None:
    keeper = _kept(_run(1, 1.0), _run(2, 10.0), _run(7, 1000.0))
    stop = RunEnd(_run(7, 1000.0), beside=Observations(trends=keeper.series))
    told = {(one["name"], one["quantity"]): one for one in json_of("trends", stop)["series"]}
    weight = told["dense", "weight"]
    assert (weight["steps"], weight["values"]) == ([1, 2, 7], pytest.approx([5.0, 50.0, 5000.0]))
    assert set(told) == {("dense", str(quantity)) for quantity in Quantity}
    assert "over 3 runs, #1 to #7" in text_of("trends", stop)
    assert "×100" in text_of("trends dense --of weight", stop)


def test_those_of_another_function_are_asked_for() -> None:
    stop = RunEnd(_run(2, 10.0), beside=Observations((), _kept(_run(1, 1.0, "other_step")).series, True))
    assert json_of("trends dense --of weight", stop)["series"][0]["steps"] == [2]
    assert json_of("trends -a dense --of weight", stop)["series"][0]["steps"] == [1, 2]
    assert links_of("trends", stop)["trends -a"] == "trends -a"
    assert "--trends" not in text_of("trends", stop), "it is on"


@pytest.mark.parametrize(
    ("taken", "told"),
    [
        ((), "Of other runs no norms are kept as yet."),
        ((1, 2), "In the runs whose norms were to be kept so far there are none."),
    ],
)
def test_where_none_are_kept_it_is_said_why(taken: Sequence[int], told: str) -> None:
    """A blind test: `--trends` was advised where it was given, and norms of other functions where there were none."""
    nothing = made_run(op("a", "Const", value=1.0))
    keeper = _kept(*(replace(nothing, call=replace(nothing.call, number=number)) for number in taken))
    stop = RunEnd(nothing, beside=Observations((), keeper.series, keeps_norms=True))
    for command in ("trends", "trends -a"):
        assert text_of(command, stop).splitlines()[2] == told
