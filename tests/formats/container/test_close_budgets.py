"""Budgets a little above what all runs share: runs of few kilobytes, beside sources of many."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.made_run import made_run, op
from support.sample_run import sample_run
from support.saved_sources import SavedSources

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import ring
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array


def _run(number: int, elements: int) -> Run:
    text = random.Random(1).randbytes(100_000).hex()  # of no pattern that would be packed
    values: Array = np.full(elements, number, np.float32)
    run = made_run(op("a", "Const", value=values), op("b", "Neg", "a", value=-values))
    return replace(
        run, call=replace(sample_run().call, number=number), sources=SavedSources({"/home/ada/t.py": text})
    )


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _sizes(path: Path, elements: int) -> tuple[int, int]:
    """The bytes of a recording of one run, and what a second one adds."""
    writer = RecordingWriter(path)
    taken = []
    for number in (1, 2):
        writer.write(_run(number, elements))
        taken.append(_size(path))
    writer.close()
    return taken[0], taken[1] - taken[0]


@pytest.mark.parametrize("elements", [10, 1_500], ids=["rows alone", "12 kB"])
def test_the_last_runs_are_kept_whatever_the_budget_leaves_for_them(tmp_path: Path, elements: int) -> None:
    """A blind test: 64 kB of nothing were asked for beside a run, and with less than that the second was refused."""
    first, more = _sizes(tmp_path / "sizes", elements)
    for spare in range(0, 50_000, 5_000):
        path, budget = tmp_path / str(spare), first + 4_096 + spare
        writer = RecordingWriter(path, budget=budget)
        for number in range(1, 13):
            writer.write(_run(number, elements))
            assert _size(path) <= budget, spare
        writer.close()
        kept = [run.call.number for run in open_path(path).runs]
        assert kept == list(range(13 - len(kept), 13)), spare
        assert len(kept) >= min(12, max(1, spare // max(more, 8_192) - 1)), (spare, more)


def test_the_sizes_of_a_refusal_are_those_of_the_run(tmp_path: Path) -> None:
    elements = 1_500
    first, _ = _sizes(tmp_path / "sizes", elements)
    writer = RecordingWriter(tmp_path / "r", budget=first - 5_000)
    with pytest.raises(TfdbgError, match=r"One run takes about 12\.\d kB, beside"):
        writer.write(_run(1, elements))
    writer.close()


@pytest.mark.parametrize(("free", "advice"), [(1000, "Its disk has no room for one"), (1 << 30, "Raise --budget")])
def test_a_run_that_the_disk_has_no_room_for_is_no_matter_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, advice: str
) -> None:
    """A blind test: a larger budget ended with a full disk."""
    monkeypatch.setattr(ring, "free_disk", lambda _: free)
    writer = RecordingWriter(tmp_path / "r", budget=2000)
    with pytest.raises(TfdbgError) as raised:
        writer.write(sample_run())
    writer.close()
    assert raised.value.hint.startswith(advice)
