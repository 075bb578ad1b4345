"""Pairs that are told at once where runs of the same graphs come again, and found anew where anything is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.pairing import kept_pairs
from tfdbg_cli.analysis.pairing.kept_pairs import KeptPairs
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.tensor_pairs import TensorPairs, paired_tensors
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run

ONE = np.ones(2, np.float32)


def _run(value: float = 1.0, axis: int = 0, *, dtype: type = np.float32, named: str = "y") -> Run:
    return made_run(
        op("x", "Placeholder", value=(ONE * value).astype(dtype)), op("axis", "Const", value=np.int32(axis)),
        op("left", "Const", value=ONE), op("right", "Const", value=ONE * 2),
        op(named, "Sum", "x", "axis", value=np.float32(2 * value)),
    )  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[TensorPairs]:
    """What was found anew."""
    found: list[TensorPairs] = []

    def noted(first: Run, second: Run, renames: Renames) -> TensorPairs:
        found.append(paired_tensors(first, second, renames))
        return found[-1]

    monkeypatch.setattr(kept_pairs, "paired_tensors", noted)
    return found


def _of_graph(run: Run, graph_of: Run) -> Run:
    return replace(run, graph=graph_of.graph)


def test_runs_of_the_same_graphs_are_paired_once(asked: list[TensorPairs]) -> None:
    first, second = _run(), _run()
    pairing = KeptPairs(Renames())
    for value in (1.0, 2.0, 3.0):
        later = _of_graph(_run(value), first), _of_graph(_run(value * 2), second)
        found = pairing.paired(*later)
        assert found == paired_tensors(*later, Renames())
    assert len(asked) == 1


@pytest.mark.parametrize(
    "other",
    [lambda: _run(axis=1), lambda: _run(dtype=np.float64), lambda: _run(named="z")],
    ids=["constant", "type", "name"],
)
def test_what_is_new_is_paired_anew(asked: list[TensorPairs], other: Callable[[], Run]) -> None:
    """A blind test: the pairs of the runs before, of tensors that are no pairs any more."""
    first, second = _run(), _run()
    pairing = KeptPairs(Renames())
    pairing.paired(first, second)
    changed = _of_graph(other(), second)
    assert pairing.paired(first, changed) == paired_tensors(first, changed, Renames())
    assert len(asked) == 2


def test_training_and_evaluation_in_turns(asked: list[TensorPairs]) -> None:
    train, evaluate = _run(), _run(named="z")
    pairing = KeptPairs(Renames())
    for run in (train, evaluate, train, evaluate):
        pairing.paired(run, run)
    assert len(asked) == 2


def test_a_recording_of_many_runs_is_paired_once_and_says_how_far_it_is(
    asked: list[TensorPairs], tmp_path: Path
) -> None:
    writer = RecordingWriter(tmp_path)
    for number in range(1, 6):
        run = _run(float(number))
        writer.write(replace(run, call=replace(run.call, number=number)))
    writer.close()
    told: list[float] = []
    found = compared_recordings(open_path(tmp_path).runs, open_path(tmp_path).runs, told=told.append)
    assert found.comparison.same and found.count == 5 and len(asked) == 1
    assert told == sorted(told) and {0.0, 0.2, 0.4, 0.6, 0.8} <= {round(share, 6) for share in told} and told[-1] < 1
