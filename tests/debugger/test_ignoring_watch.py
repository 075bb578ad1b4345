"""A watch goes on past what the person ignores, and at nothing else; no TensorFlow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.dismissed import Dismissed
from tfdbg_cli.analysis.origin.ignoring import ignored_cause, ignored_place
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.capture import failures
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.progress_line import ProgressLine
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.decision import OnBenign, RunUntil
from tfdbg_cli.model.ignored import Ignored, IgnoredBy
from tfdbg_cli.model.runs import Run

X = op("x", "Placeholder", value=[1.0, 0.0])
LOG = op("log", "Log", "x", value=[0.0, -INF])
INNER = op("inner", "Mul", "log", value=[0.0, -INF])
LATER = op("later", "Log", "x", value=[0.0, -INF])


def _run(number: int, *more: Op, function: str = "step") -> Run:
    run = made_run(X, LOG, INNER, *more, op("y", "Neg", "inner", value=[0.0, INF]))
    return replace(run, call=Call(number, RunKind.FUNCTION, ("y:0",), function=function), caught=True)


def _watching(ignored: Ignored, name: str = "has_inf_or_nan", benign: OnBenign = OnBenign.STOP) -> ActiveWatch:
    decision = RunUntil(name, benign=benign)
    return ActiveWatch(decision, BUILT_IN_FILTERS[name], Settings(), ProgressLine(), lambda text: None, ignored)


def _said(*named: str) -> Ignored:
    return Ignored([ignored_place(_run(1), IgnoredBy.NODE, named[0], named)])


@pytest.mark.parametrize("name", ["has_inf_or_nan", "bad_result", "has_inf"])
@pytest.mark.parametrize("benign", list(OnBenign))
def test_the_watch_goes_on(name: str, benign: OnBenign) -> None:
    assert _watching(Ignored(), name, benign).sees(_run(1)) is not None
    watching = _watching(_said("log"), name, benign)
    assert watching.watched.ignored == {("step", "log"), ("step", "inner")}, "y comes out, and is looked at"
    assert watching.sees(_run(2)) is None
    assert watching.sees(_run(3)) is None, "each time"


def test_what_was_left_out_is_said_at_the_end() -> None:
    watching = _watching(_said("log"))
    assert watching.sees(_run(2)) is None
    assert watching.seen_in_words(0) == "Nothing passed has_inf_or_nan in 1 run (ignored 1 place: the node log)."
    assert watching.interrupted_words("Ctrl-C").endswith("in 1 run (ignored 1 place: the node log).")


def test_behind_a_stop_it_is_said_that_nothing_passed_since() -> None:
    """A program that had been stopped three times was told at its end that nothing passed."""
    decision, asked = RunUntil("has_inf_or_nan"), BUILT_IN_FILTERS["has_inf_or_nan"]
    watching = ActiveWatch(decision, asked, Settings(), ProgressLine(), lambda text: None, Ignored(), [_run(1)])
    watching.passed(2, lambda: _run(2))
    assert watching.seen_in_words(0) == "Since the last stop nothing passed has_inf_or_nan in 1 run."
    told = "in 1 run and 12 ops that ran eagerly, but for 2 ops of the run in which it had stopped."
    assert watching.seen_in_words(12, passed_over=2) == f"Since the last stop nothing passed has_inf_or_nan {told}"


def test_a_watch_during_which_tfdbg_failed_says_that_it_may_not_have_seen_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: each run was told to have failed twice, and at the end that nothing had passed in any."""
    monkeypatch.setattr(failures, "_COUNTED", Counter())
    watching = _watching(Ignored())
    for number in range(1, 13):
        watching.passed(number, partial(_run, number))
        failures.report("take the values of a function", TypeError("broken"))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4 and said[-1].endswith("the program goes on without it. That was 10 times by now.")
    told = watching.seen_in_words(0)
    assert told.endswith(
        "in 12 runs. tfdbg failed itself 12 times meanwhile, as told above: it may not have seen all."
    )
    assert "failed" not in _watching(Ignored()).seen_in_words(1)


def test_that_a_loss_in_eager_code_is_no_result_is_said_at_the_end() -> None:
    """A program that printed a loss of NaN was told that nothing passed, and no more."""
    told = _watching(Ignored(), "bad_result").seen_in_words(1339)
    assert "Nothing passed bad_result in 1,339 ops that ran eagerly." in told
    assert "the variables alone: `--until has_inf_or_nan` asks every op." in told
    for name, ops in (("bad_result", 0), ("has_inf_or_nan", 1339)):
        assert "the variables alone" not in _watching(Ignored(), name).seen_in_words(ops)

    turns, steps = _watching(Ignored(), "bad_result"), _watching(Ignored(), "bad_result")
    for number in range(1, 71):
        turns.passed(number, lambda: _run(1))
        steps.passed(number, lambda: _run(1), looked_at="__inference_step_12")
    assert "the variables alone" in turns.seen_in_words(331)
    assert "the variables alone" not in steps.seen_in_words(331), "`fit` runs some ops eagerly, too"


def test_in_a_loop_that_runs_eagerly_a_place_counts_for_all_turns() -> None:
    def turn(number: int, *more: Op) -> Run:
        call = Call(number, RunKind.EAGER, (), function=f"turn {number} of train.py:12", loop="train.py:12")
        return replace(_run(number, *more), call=call, caught=False)

    watching = _watching(Ignored([ignored_place(turn(1), IgnoredBy.NODE, "log", ["log"])]))
    assert watching.sees(turn(2)) is None
    assert watching.sees(turn(3, op("root", "Sqrt", "x", value=[1.0, NAN]))) is not None


def test_another_fault_stops_it() -> None:
    watching = _watching(_said("log"))
    assert watching.sees(_run(2, op("root", "Sqrt", "x", value=[1.0, NAN]))) is not None
    assert watching.sees(_run(3, function="other")) is not None, "a node of another function"


def test_a_hit_that_the_values_do_not_explain_stops_it() -> None:
    """All that is bad is left out of the checks: so what they found is something that nobody sees."""
    run = made_run(X, LOG, INNER, op("y", "Exp", "x", value=[2.0, 1.0]))
    hit = replace(run, call=Call(2, RunKind.FUNCTION, ("y:0",), function="step"), caught=True)
    assert _watching(_said("log")).sees(hit) is not None
    without_values = replace(_run(2), tensors=made_run(op("z", "Log")).tensors)
    assert _watching(_said("log")).sees(without_values) is not None


def test_a_cause_is_known_again_and_left_out_from_then_on() -> None:
    first = OriginSearch(_run(1)).first()
    assert first is not None
    ignored = Ignored([ignored_cause(_run(1), first.cause, Dismissed())])
    watching = _watching(ignored)
    assert watching.sees(_run(2, LATER)) is None
    assert ignored[0].named == ("log", "later")
    assert ("step", "later") in watching.watched.ignored


def test_what_is_taken_back_counts_for_the_next_watch() -> None:
    ignored = _said("log")
    ignored.withdraw(1)
    watching = _watching(ignored)
    assert watching.watched.ignored == frozenset() and watching.sees(_run(2)) is not None


def test_for_another_filter_the_named_nodes_alone_are_left_out() -> None:
    assert _watching(_said("log"), "all_zero").watched.ignored == {("step", "log")}


def test_the_bundle_of_a_hit_is_given_what_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Run] = []
    monkeypatch.setattr(
        "tfdbg_cli.debugger.run_saving.saved_in_words", lambda run, *path, **how: saved.append(run) or ("done",)
    )
    decision = RunUntil("has_inf_or_nan", bundle="/nowhere")
    ignored = _said("inner")
    asked = BUILT_IN_FILTERS["has_inf_or_nan"]
    watching = ActiveWatch(decision, asked, Settings(), ProgressLine(), lambda text: None, ignored)
    hit = watching.sees(_run(2))
    assert hit is not None and watching.end(_run(2), hit).notes
    assert saved[0].ignored == ignored.places
