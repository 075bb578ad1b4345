"""Which runs hold something bad beyond what is intended or ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op
from support.masked_run import BAD_LOG, MASKED, masked_run

from tfdbg_cli.analysis.many_runs import run_health
from tfdbg_cli.analysis.many_runs.run_health import KnownHealth, RunHealths
from tfdbg_cli.analysis.origin.descriptions import Descriptions
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.tensors import MemoryTensorStore, gone
from tfdbg_cli.model.values import NoValue, Value


def _healths(*runs: Run, ignored: Sequence[IgnoredPlace] = ()) -> list[KnownHealth]:
    found = RunHealths(runs, ignored)
    return [found.of(place).health for place in range(len(runs))]


def _ignored_cause(rule: str) -> IgnoredPlace:
    """What the user ignores wherever this row of the table of causes holds."""
    name = TensorName("log", 0)
    return IgnoredPlace(1, masked_run().call.place, name, "Log", "NaN", "", False, (), by=IgnoredBy.CAUSE, name=rule)


def test_a_run_with_a_mask_is_fine_and_one_with_a_fault_beside_it_is_bad() -> None:
    assert _healths(masked_run(), masked_run(BAD_LOG), masked_run()) == [
        KnownHealth.FINE,
        KnownHealth.BAD,
        KnownHealth.FINE,
    ]


def test_a_mask_is_searched_for_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[Run] = []

    class Counted(OriginSearch):
        def __init__(self, run: Run, **options: Any) -> None:
            searches.append(run)
            super().__init__(run, **options)

    monkeypatch.setattr(run_health, "OriginSearch", Counted)
    assert _healths(*[masked_run() for _ in range(5)]) == [KnownHealth.FINE] * 5
    assert len(searches) == 1


def test_the_origin_of_a_bad_run_is_not_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: of a graph of 5,000 ops that took two seconds a run, most of it for the rows of the batch."""

    def described(*arguments: object) -> None:
        raise AssertionError("that takes its time, and nobody reads it here")

    monkeypatch.setattr(Descriptions, "of", described)
    assert _healths(masked_run(BAD_LOG)) == [KnownHealth.BAD]
    its_own = "Log: another order"
    assert _healths(masked_run(BAD_LOG), ignored=[_ignored_cause("Log: log of 0")]) == [KnownHealth.BAD]
    assert _healths(masked_run(BAD_LOG), ignored=[_ignored_cause(its_own)]) == [KnownHealth.FINE]


@pytest.mark.parametrize(
    ("asked", "loss", "health"),
    [("IsFinite", 1.0, KnownHealth.FINE), ("IsFinite", NAN, KnownHealth.BAD), ("Relu", 1.0, KnownHealth.HARMLESS)],
    ids=["skipped", "not only gradients", "without loss scaling"],
)
def test_a_step_that_loss_scaling_skips_is_as_fine_as_a_watch_finds_it(
    asked: str, loss: float, health: KnownHealth
) -> None:
    """A blind test: `--until` went past what `runs` and `alerts` of a recording called bad."""
    run = made_run(
        op("x", "Placeholder", value=np.float32([3e38])),
        op("gradient_tape/mul", "Mul", "x", "x", value=np.float32([INF])),
        op("asked", asked, "gradient_tape/mul", value=np.bool_([False]) if asked == "IsFinite" else [INF]),
        op("loss", "Sin", "x", value=np.float32([loss])),
    )
    found = RunHealths([run])
    assert found.of(0).health is health
    assert found.of(0).left_out == ({1} if health is KnownHealth.FINE else set())


def _ctc(loss: float) -> Run:
    """A loss that is computed of logarithms of which one is -inf."""
    return made_run(
        op("p", "Placeholder", value=[0.0, 0.5]),
        op("log", "Log", "p", value=[-INF, -0.7]),
        op("exp", "Exp", "log", value=[0.0, 0.5]),
        op("loss", "Sum", "exp", value=loss),
    )


def test_a_run_is_harmless_in_which_nothing_bad_comes_out() -> None:
    """A blind test: all runs of a healthy training with a CTC loss were bad, which a watch goes past."""
    fine, bad, failed = _ctc(0.5), _ctc(INF), replace(_ctc(0.5), error=RunError("Broken.", "Log", "log"))
    assert _healths(fine, bad, failed) == [KnownHealth.HARMLESS, KnownHealth.BAD, KnownHealth.BAD]
    assert RunHealths([fine]).of(0).left_out == set()


def test_between_the_tensors_of_a_run_something_else_may_be_done() -> None:
    ops = [op(f"x{number}", "Neg", value=[1.0]) for number in range(500)]
    found = RunHealths([made_run(*ops, op("log", "Log", "x0", value=[NAN]))])
    assert len(list(found.in_steps(0))) >= 500
    assert found.of(0).health is KnownHealth.BAD and not list(found.in_steps(0))


def test_more_infinities_at_the_place_of_a_mask_are_looked_at_anew() -> None:
    """What is intended in one run says nothing of a tensor that holds something else in the next."""
    overflown = made_run(
        op("scores", "Placeholder", value=np.array([[1.0, 2.0], [3.0, INF]], np.float32)),
        op("mask", "Const", value=np.array([[0.0, -INF], [0.0, 0.0]], np.float32)),
        op("masked", "AddV2", "scores", "mask", value=np.where(np.eye(2) * [0, 1] > 0, INF, MASKED)),
        op("soft", "Softmax", "masked", value=np.array([[1.0, 0.0], [0.0, NAN]], np.float32)),
    )
    assert _healths(masked_run(), overflown) == [KnownHealth.FINE, KnownHealth.BAD]


def test_what_was_left_out_in_an_earlier_run_is_left_out_of_a_bad_one() -> None:
    runs = masked_run(), masked_run(BAD_LOG)
    healths = RunHealths(runs)
    assert healths.of(0).left_out == healths.of(1).left_out == {1, 2}


def test_what_is_not_known_is_not_called_fine() -> None:
    lost = masked_run(op("log", "Log", "scores", value=gone("Gone.")))
    assert _healths(lost, made_run(op("x", "Placeholder"))) == [KnownHealth.UNKNOWN, KnownHealth.UNKNOWN]


def test_what_a_watch_looked_at_as_it_came_is_known_without_its_values() -> None:
    lost = replace(made_run(op("w", "ReadVariableOp", value=gone("Gone."))), found_finite=True)
    bad = replace(
        made_run(op("w", "ReadVariableOp", value=gone("Gone.")), op("x", "Log", value=[NAN])), found_finite=True
    )
    assert _healths(lost, bad) == [KnownHealth.FINE, KnownHealth.BAD]
    assert _healths(replace(lost, lacks="Its values are missing.")) == [KnownHealth.UNKNOWN]


def test_a_feed_that_no_tensor_shows_counts() -> None:
    run = made_run(op("x", "Placeholder"), op("y", "Relu", "x", value=[1.0]), feeds={"x:0": np.float32([NAN])})
    assert _healths(run) == [KnownHealth.BAD]


def test_what_the_user_ignores_is_fine() -> None:
    run = masked_run(BAD_LOG)
    name = TensorName("log", 0)
    place = IgnoredPlace(
        1, run.call.place, name, "Log", "NaN", "", False, ("log",), by=IgnoredBy.NODE, named=("log",)
    )
    assert _healths(run, ignored=(place,)) == [KnownHealth.FINE]
    assert _healths(replace(run, ignored=(place,))) == [KnownHealth.FINE]


def test_one_that_grew_is_looked_at_again() -> None:
    runs = [masked_run()]
    healths = RunHealths(runs)
    assert healths.of(0).health is KnownHealth.FINE
    runs[0] = masked_run(BAD_LOG)
    assert healths.known(0) is None and healths.of(0).health is KnownHealth.BAD


class _Counted(MemoryTensorStore):
    """Counts of NaN and infinities, and no values, as recorded with `--stats-only`."""

    def summary(self, index: int) -> Summary | None:
        value = super().value(index)
        return None if isinstance(value, NoValue) else summarize(value)

    def value(self, index: int) -> Value:
        return gone("Statistics alone were recorded.")


def _counted(run: Run) -> Run:
    """The run as one of which there are counts and no values."""
    rows = range(len(run.tensors))
    return replace(run, tensors=_Counted([run.tensors[i] for i in rows], [run.tensors.value(i) for i in rows]))


def test_of_counts_alone_a_constant_that_is_infinite_is_not_called_bad() -> None:
    run = masked_run()
    unknown = replace(run, call=replace(run.call, fetches=()))  # what the program got
    assert _healths(_counted(unknown), _counted(masked_run(BAD_LOG))) == [KnownHealth.UNKNOWN, KnownHealth.BAD]
    assert _healths(_counted(made_run(op("x", "Placeholder", value=[1.0])))) == [KnownHealth.FINE]


def test_of_counts_alone_a_run_is_harmless_whose_results_and_variables_are_finite() -> None:
    fine, gone_bad = _counted(_ctc(0.5)), _counted(_ctc(INF))
    of_nan = _counted(made_run(op("log", "Log", value=[NAN]), op("loss", "Max", "log", value=1.0)))
    failed = replace(fine, error=RunError("Broken.", "Log", "log"))
    hidden = _counted(
        made_run(
            op("w", "VarHandleOp"),
            op("log", "Log", value=[-INF, 0.0]),
            op("up", "Exp", "log", value=[0.0, 1.0]),
            op("assign", "AssignSubVariableOp", "w", "up"),
            op("loss", "Sum", "up", value=1.0),
        )
    )
    found = _healths(fine, gone_bad, of_nan, failed, hidden)
    assert found == [KnownHealth.HARMLESS, *[KnownHealth.BAD] * 4]
