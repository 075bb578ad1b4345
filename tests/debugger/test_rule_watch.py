"""Rules that judge runs: what fires, how it is told, and to whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, made_run, op

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.debugger.rule_watch import RuleWatch
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.rules import JudgeRuns, Rule
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame


class Case:
    """A watch by rules; `there` says whether somebody is at the prompt."""

    def __init__(self, *rules: Rule, every: int = 1, there: bool = False) -> None:
        self.said: list[str] = []
        self.stops: list[tuple[int, tuple[str, ...]]] = []
        self.there = there
        self.filters: dict[str, TensorFilter] = dict(BUILT_IN_FILTERS)
        self.watch = RuleWatch(lambda: self.filters, self._stop, lambda value, _: str(value), self.said.append)
        self.watch.begin(JudgeRuns(rules, every))

    def _stop(self, run: Run, why: tuple[str, ...]) -> bool:
        if self.there:
            self.stops.append((run.call.number, why))
        return self.there


def _run(number: int, relu: Any = (1.0, 2.0), log: Any = (0.0,)) -> Run:
    run = made_run(
        op("x", "Placeholder", value=np.ones(2)),
        op("net/relu", "Relu", "x", value=np.array([relu])),
        op("log", "Log", "x", value=np.array(log)),
    )
    places = {"log": (Frame("train.py", 3, "step", ""),)}
    return replace(run, call=replace(run.call, number=number), tracebacks=places)


def test_what_fires_is_told_once_and_counted() -> None:
    case = Case(Rule("has_inf_or_nan"), Rule("dead_relu:0.5"))
    for number, run in enumerate((_run(1), _run(2, log=(INF,)), _run(3, log=(INF,), relu=(0.0, 1.0))), 1):
        assert case.watch.wants("function")
        case.watch.take(run)
        assert number == run.call.number
    assert case.said == [
        "Rule has_inf_or_nan: log:0 in run #2 (train.py:3), [inf].",
        "Rule dead_relu: net/relu:0 in run #3, [[0. 1.]].",
    ]
    first, second = case.watch.alerts
    assert (first.rule, first.run, first.runs, first.last_run, first.line) == ("has_inf_or_nan", 2, 2, 3, 3)
    assert (second.tensor, second.op_type, second.file) == ("net/relu:0", "Relu", None)
    assert case.watch.unanswered
    assert case.watch.summary().splitlines()[0] == "Rules judged 3 of 3 runs:"
    assert "has_inf_or_nan: 1 tensor, the first log:0 in run #2" in case.watch.summary()


def test_one_run_in_many_of_each_kind() -> None:
    case = Case(Rule("has_nan"), every=3)
    wanted = [case.watch.wants("eager") for _ in range(7)]
    assert wanted == [True, False, False, True, False, False, True]
    assert case.watch.wants("function"), "those of another kind are counted apart"
    case.watch.take(_run(1))
    assert case.watch.summary() == "Rules: none fired in 1 of 8 runs."
    assert not case.watch.unanswered


def test_somebody_at_the_prompt_is_shown_the_run() -> None:
    case = Case(Rule("has_inf_or_nan"), there=True)
    case.watch.take(_run(1, log=(INF,)))
    case.watch.take(_run(2, log=(INF,)))
    assert [number for number, _ in case.stops] == [1], "once a rule"
    assert case.stops[0][1][0].startswith("Rule has_inf_or_nan: log:0 in run #1")
    assert not case.said and not case.watch.unanswered


def test_a_run_that_failed_opens_no_prompt() -> None:
    case = Case(Rule("has_inf_or_nan"), there=True)
    case.watch.take(replace(_run(1, log=(INF,)), error=RunError("ValueError", "no")))
    assert not case.stops and case.said and case.watch.unanswered


def test_nodes_that_a_rule_is_asked_of() -> None:
    case = Case(Rule("has_inf_or_nan", only="relu"), Rule("has_inf", exclude="^log$"))
    case.watch.take(_run(1, log=(INF,)))
    assert not case.watch.alerts
    case.watch.take(_run(2, relu=(INF, 1.0)))
    assert [(alert.rule, alert.tensor) for alert in case.watch.alerts] == [
        ("has_inf_or_nan", "net/relu:0"),
        ("has_inf", "net/relu:0"),
    ]


def test_filters_of_the_program_and_their_errors() -> None:
    case = Case(Rule("mine"), Rule("broken"), Rule("missing"))
    case.filters["mine"] = lambda datum, tensor: datum.node_name == "log"
    case.filters["broken"] = lambda datum, tensor: 1 / 0
    case.watch.take(_run(1))
    assert [alert.rule for alert in case.watch.alerts] == ["mine"]
    assert any("The rule broken raised an error on x:0" in sentence for sentence in case.said)
    assert any("The rule missing is not asked: There is no filter 'missing'" in sentence for sentence in case.said)
    assert case.watch.unanswered, "a job does not pass for a rule that is misspelled"
    assert "  missing: not asked. There is no filter 'missing'." in case.watch.summary()


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfdbg_cli.debugger.rule_watch._MOST_ALERTS", 1)
    case = Case(Rule("has_inf_or_nan"))
    case.watch.take(_run(1, log=(INF,), relu=(INF, INF)))
    assert len(case.watch.alerts) == 1
    assert case.watch.summary().endswith("1 more were not kept.")


def test_nothing_to_judge_is_told_where_rules_were_asked() -> None:
    assert Case(Rule("has_nan")).watch.summary().startswith("Rules judged nothing")
    never = RuleWatch(lambda: BUILT_IN_FILTERS, lambda run, why: False, lambda value, _: "")
    assert not never.on and never.summary() == "" and not never.wants(0)
    never.take(_run(1, log=(INF,)))
    assert not never.alerts


def test_infinities_of_which_nothing_comes_fire_nothing() -> None:
    """A blind test: a healthy attention with a causal mask of -inf made a job fail with exit code 3."""
    masked = made_run(
        op("x", "Placeholder", value=np.array([1.0, -INF])),
        op("exp", "Exp", "x", value=np.array([2.7, 0.0])),
    )
    case = Case(Rule("has_inf_or_nan"))
    case.watch.take(masked)
    assert case.watch.alerts == () and not case.watch.unanswered
    other = Case(Rule("has_inf"))
    other.watch.take(masked)
    assert len(other.watch.alerts) == 1
