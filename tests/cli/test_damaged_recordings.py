"""Recordings of several runs whose data file is not whole: no verb takes what it could not read for what is equal."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.cli import main as cli
from tfdbg_cli.formats.container.reader import RecordingReader
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.model.runs import Run

X = np.linspace(1, 2, 16).astype(np.float32)


def _run(number: int, values: np.ndarray = X) -> Run:
    run = made_run(op("x", "Placeholder", value=values * number), op("y", "Exp", "x", value=np.exp(values * number)))
    return replace(run, call=replace(run.call, number=number))


def _recording(path: Path, *runs: Run) -> Path:
    writer = RecordingWriter(path)
    for run in runs:
        writer.write(run)
    writer.close()
    return path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return _recording(tmp_path / "whole", *map(_run, (1, 2, 3)))


@pytest.fixture
def cut(whole: Path, tmp_path: Path) -> Path:
    """A copy of `whole` whose data file ends where the second run has its values."""
    copy = tmp_path / "cut"
    shutil.copytree(whole, copy)
    ((begin,),) = RecordingReader(copy).ask("SELECT min(offset) FROM tensors WHERE run = 2")
    os.truncate(copy / "data/000001.safetensors", begin + 8)
    return copy


def test_what_cannot_be_read_of_one_is_not_equal(
    whole: Path, cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: nothing differed, with exit code 0, since the pair of runs that could be compared was on show."""
    for one, two in ((whole, cut), (cut, whole)):
        assert cli.main(["diff", str(one), str(two)]) == 2
        shown = capsys.readouterr()
        assert "Nothing differs of what could be compared." in shown.out
        assert "Damaged   x:0 in run #2 and 1 more: The file data/000001.safetensors ends at byte" in shown.out
        assert "Could not compare all: 2 tensors cannot be read, x:0 of run #2 the first." in shown.err
        assert "tfdbg doctor" in shown.err
    assert cli.main(["diff", "--json", str(whole), str(cut)]) == 2
    told = json.loads(capsys.readouterr().out)
    facts = [told[name] for name in ("first", "damaged", "runs_damaged", "runs_untold")]
    assert facts == [None, ["x:0", "y:0"], [2, 3], 2]
    other = _recording(tmp_path / "other", _run(1, -X), *map(_run, (2, 3)))
    assert cli.main(["diff", str(other), str(cut)]) == 1, "the first pair differs"
    assert cli.main(["diff", str(whole), str(whole)]) == 0
