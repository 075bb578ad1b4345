"""Selecting and adding up the times of a profiled run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support import sample_run

from tfdbg_cli.analysis.times.timing import Interval, TimeQuery, by_device, costs_by_line, select
from tfdbg_cli.model.profile import NodeTime, Profile

PROFILE = Profile(
    (
        NodeTime("x", "Placeholder", sample_run.CPU0, 0, 1, 2),
        NodeTime("dense/MatMul", "MatMul", sample_run.CPU0, 10, 100, 120),
        NodeTime("loss/Log", "Log", sample_run.CPU1, 30, 10, 15),
        NodeTime("loss/Log", "Log", sample_run.CPU1, 50, 20, 25),
        NodeTime("_opt", "Foo", sample_run.CPU1, 60, 5, 5),
    )
)


def _names(**query: object) -> list[str]:
    return [t.time.node for t in select(PROFILE, sample_run.TRACEBACKS, TimeQuery(**query))]  # type: ignore[arg-type]


def test_everything_without_filters() -> None:
    assert len(_names()) == 5


def test_regexes_search_anywhere() -> None:
    assert _names(node="atMul$") == ["dense/MatMul"]
    assert _names(op_type="og") == ["loss/Log", "loss/Log"]
    assert _names(device="CPU:0") == ["x", "dense/MatMul"]
    assert _names(file="train") == ["x", "dense/MatMul", "loss/Log", "loss/Log"]


def test_lines_from_the_first_up_to_but_without_the_last() -> None:
    assert _names(min_line=6, max_line=8) == ["dense/MatMul"]
    assert _names(min_line=8) == ["loss/Log", "loss/Log"]


def test_times_in_intervals() -> None:
    assert _names(op_time=Interval(10, 100, high_open=True)) == ["loss/Log", "loss/Log"]
    assert _names(exec_time=Interval(high=5)) == ["x", "_opt"]


@given(st.floats(0, 9), st.floats(0, 9), st.floats(0, 9), st.booleans(), st.booleans())
def test_intervals(number: float, low: float, high: float, low_open: bool, high_open: bool) -> None:
    above = number > low if low_open else number >= low
    below = number < high if high_open else number <= high
    assert (number in Interval(low, high, low_open, high_open)) == (above and below)


def test_devices_apart() -> None:
    grouped = by_device(select(PROFILE, sample_run.TRACEBACKS, TimeQuery()))
    assert {device: len(times) for device, times in grouped.items()} == {sample_run.CPU0: 2, sample_run.CPU1: 3}


def test_costs_of_lines() -> None:
    times = select(PROFILE, sample_run.TRACEBACKS, TimeQuery())
    costs = costs_by_line(times, {8: ["loss/Log", "loss/mul"], 7: ["prob"]}, lambda time: time.op_us)
    assert list(costs) == [8]
    assert (costs[8].cost_us, costs[8].nodes, costs[8].executions) == (30, 1, 2)


def test_what_the_runtime_made_in_the_scope_of_a_node_counts_for_its_line() -> None:
    made = replace(PROFILE.times[0], node="loss/Log/folded", op_us=5.0)
    times = select(Profile((*PROFILE.times, made)), sample_run.TRACEBACKS, TimeQuery())
    costs = costs_by_line(times, {8: ["loss/Log", "loss/mul"]}, lambda time: time.op_us)
    assert (costs[8].cost_us, costs[8].nodes, costs[8].executions) == (35, 2, 3)
