"""The figures of a watch, and the runs that it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.watch.kept_runs import KeptRuns
from tfdbg_cli.analysis.watch.watch_progress import WatchProgress
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import largest_magnitude
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


def _run(number: int, *values: Any) -> Run:
    arrays = [np.asarray(value) for value in values]
    names = [TensorName(f"t{i}", 0) for i in range(len(arrays))]
    tensors = [
        describe(name, array, device="", op_type="Add", dtype=array.dtype.name)
        for name, array in zip(names, arrays, strict=True)
    ]
    return Run(Call(number, RunKind.FUNCTION, ()), MemoryTensorStore(tensors, arrays))


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_figures_are_those_of_the_whole_watch() -> None:
    clock = _Clock()
    progress = WatchProgress("has_nan", clock)
    assert progress.words(1) == "no has_nan in 1 run"
    clock.now = 11
    assert progress.words(418) == "no has_nan in 418 runs, 38/s, 11 s"
    clock.now = 3725
    assert progress.words(40_000) == "no has_nan in 40,000 runs, 10.7/s, 1:02:05 h"


def test_the_largest_magnitude_says_where_it_was_seen() -> None:
    clock = _Clock()
    progress = WatchProgress("has_nan", clock)
    assert not progress.wants_sample
    clock.now = 30
    assert progress.wants_sample
    progress.sample(lambda: _run(7, [1.0, -300.0], [np.inf, 2.0], [10_000], [b"text"]))
    assert progress.words(7).endswith("largest 300 in 1 run looked at (#7 t0:0)")
    progress.sample(lambda: _run(8, [200.0]))
    assert progress.words(8).endswith("largest 300 in 2 runs looked at (#7 t0:0)"), "no maximum over all 8 runs"


def test_a_sample_that_takes_long_is_seldom_made() -> None:
    clock = _Clock()
    progress = WatchProgress("has_nan", clock)

    def slow() -> Run:
        clock.now += 5
        return _run(1)

    clock.now = 30
    progress.sample(slow)
    clock.now = 35 + 499
    assert not progress.wants_sample
    clock.now = 35 + 501
    assert progress.wants_sample


def test_no_sample_is_made_while_it_would_take_more_than_its_share_of_the_watch() -> None:
    """A run that had to be prepared for long has to be prepared for as long to be made again with its values."""
    clock = _Clock()
    progress = WatchProgress("has_nan", clock)
    progress.begins(1)
    clock.now = 31
    progress.ends(1)
    assert not progress.wants_sample, "the first run has only just ended"
    for number in range(2, 2000):
        progress.begins(number)
        clock.now += 1
        progress.ends(number)
    assert not progress.wants_sample
    clock.now = 3101
    assert progress.wants_sample


def test_a_filter_that_takes_its_time_is_told_of() -> None:
    clock = _Clock()
    progress = WatchProgress("mine", clock)
    clock.now = 10
    progress.asked(4)
    assert progress.words(5).endswith("40% of the time for the filter")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "bfloat16", "float8_e5m2"])
def test_the_largest_magnitude_in_every_dtype(dtype: str) -> None:
    import ml_dtypes

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.array([1, np.nan, -4, np.inf, 2]).astype(kind)
    assert largest_magnitude(value) == 4
    assert largest_magnitude(value, finite=False) == np.inf
    assert largest_magnitude(np.array([np.nan]).astype(kind)) == 0
    assert largest_magnitude(np.array([], kind)) == 0
    assert largest_magnitude(np.array(-3).astype(kind)) == 3


def test_the_largest_magnitude_is_found_beyond_the_first_part() -> None:
    value = np.zeros((3, 1 << 20), np.float32)
    value[2, 5] = -7
    value[1, 3] = np.nan
    assert largest_magnitude(value) == 7


def test_the_newest_runs_stay_within_the_room() -> None:
    kept = KeptRuns(3, 100)
    for number in range(1, 6):
        kept.add(_run(number, np.zeros(3)))
    assert [run.call.number for run in kept.runs] == [3, 4, 5]
    assert not kept.crowded_out
    kept.add(_run(6, np.zeros(5)))
    assert [run.call.number for run in kept.runs] == [6], "the run that comes needs room too"
    assert (kept.crowded_out, kept.largest) == (True, 40)


def test_a_run_larger_than_the_room_is_not_kept() -> None:
    kept = KeptRuns(3, 100, held=lambda run: pytest.fail("it must not be copied"))
    kept.add(_run(1, np.zeros(100)))
    assert kept.runs == ()
    assert kept.crowded_out


def test_what_is_not_exact_stays_beside_what_else_is_told() -> None:
    progress = WatchProgress("has_nan", clock=lambda: 0.0)
    doubtful = Exactness(ExecutionWay.PROVEN, doubt="Nobody looked.")
    progress.hear(doubtful)
    progress.hear(None)
    progress.hear(Exactness(ExecutionWay.PROVEN))
    progress.said = "left out: x"
    assert progress.words(3) == "no has_nan in 3 runs, may not be exact, left out: x"
    assert progress.doubt == "Nobody looked."
    progress.hear(Exactness(ExecutionWay.PROVEN, strays=(Parting("loss", 1),)))
    progress.hear(doubtful)
    assert progress.words(3) == "no has_nan in 3 runs, not exact: loss, left out: x"
    progress.hear(Exactness(ExecutionWay.PROVEN, strays=(Parting("loss", 1), Parting("w", 1))))
    assert progress.inexact == "not exact: loss, w"
    assert not progress.doubt
