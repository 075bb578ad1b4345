"""What the measurements of `bench` count: usual rounds, and apart from them those with a trial."""

from __future__ import annotations

import pytest
import tensorflow as tf

from bench.timing import Timing, Took, interleave, print_ratios
from bench.trials import counted_trials
from bench.ways import KEEP, WATCH, WAYS, Way


def test_rounds_with_trials_are_put_aside(capsys: pytest.CaptureFixture[str]) -> None:
    calls = trials = 0

    def step() -> Took:
        nonlocal calls, trials
        calls += 1
        tried = calls in (1, 2, 4)
        trials += tried
        return Took(9.0, 8.0) if tried else Took(3.0, 4.0)

    timings = interleave({"plain": lambda: Took(2.0, 2.0), "watch": step}, 4, unusual=lambda: trials)
    assert timings["watch"].seconds == (3.0, 3.0, 3.0)
    assert timings["watch"].processor == (4.0, 4.0, 4.0)
    assert timings["watch"].aside == (9.0,)
    assert timings["plain"].seconds == (2.0,) * 3
    assert timings["plain"].aside == ()
    print_ratios("steps", timings, "plain", {"watch": 1.6})
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row[:5] == ["watch", "3000.00", "1.500", "≤", "1.60"]
    assert row[5:] == ["2.000", "1", "of", "4,", "4.50"]


def test_ratios_are_those_of_neighbours() -> None:
    base = Timing((1.0, 2.0, 4.0), (1.0, 2.0, 4.0))
    other = Timing((1.5, 3.0, 3.0), (3.0, 6.0, 4.0))
    assert (other.ratio(base), other.processor_ratio(base)) == (1.5, 3.0)


def test_where_no_processor_time_is_told_there_is_none_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_ratios("steps", interleave({"plain": lambda: Took(2.0)}, 3), "plain", {})
    assert capsys.readouterr().out.splitlines()[-1].split() == ["plain", "2000.00", "1.000"]


@pytest.mark.parametrize("way", [WAYS[WATCH], WAYS[KEEP]])
def test_trials_of_functions_are_counted(way: Way) -> None:
    state = tf.Variable(1.0)
    step = tf.function(lambda x: state.assign_add(tf.exp(x)))
    counts = []
    with counted_trials() as trials, way():
        for _ in range(4):
            step(tf.constant(0.5))
            counts.append(trials())
    assert counts == [1, 2, 2, 2]
