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
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.layout import WORKERS
from tfdbg_cli.formats.container.reader import RecordingReader
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue

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


def test_a_file_that_ends_too_soon_is_told_of_at_opening(cut: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: a missing file was told of, and of one that was cut not a word."""
    opened = open_path(cut)
    [note] = opened.notes
    assert "The file data/000001.safetensors ends at byte" in note
    assert "; values of 2 runs lie behind that. Was it copied whole?" in note
    lost = [" ".join(run.lost) for run in opened.runs]
    assert not lost[0] and lost[1] == lost[2] and lost[1].endswith("; values of this run lie behind that.")
    assert cli.main(["open", str(cut), "-c", "runs 2", "-c", "origin"]) == 0
    assert capsys.readouterr().out.count("values of this run lie behind that.") == 2


def test_a_file_of_a_worker_that_ends_too_soon(cut: Path, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / WORKERS).write_text(json.dumps({"format": "tfdbg job", "version": 1}))
    shutil.move(cut, folder / "chief0")
    shutil.move(whole, folder / "worker1")
    [note] = open_path(folder).notes
    assert note.startswith("The worker chief0: The file data/000001.safetensors ends at byte")


def test_a_folder_in_the_place_of_a_file(cut: Path) -> None:
    file = cut / "data/000001.safetensors"
    file.unlink()
    file.mkdir()
    [note] = open_path(cut).notes
    assert note.startswith(
        "The file data/000001.safetensors cannot be read: it is no file; values of 3 runs lie in it."
    )
    assert [text for text, _ in examined(cut).troubles] == [note.partition(" Was it")[0]]


def test_a_copy_of_what_was_not_whole_tells_what_it_lacks(
    cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the values were left out without a word, and doctor found nothing wrong with the copy."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert cli.main(["open", str(cut), "-c", f"save {first}"]) == 0
    said = capsys.readouterr().out
    assert "Of 2 runs, #2 the first, not all could be read. The file data/000001.safetensors ends at byte" in said
    assert "4 values are lacking, x:0 the first." in said, "it said 2, as of the first run alone"
    assert cli.main(["open", str(first), "-c", f"save {second}"]) == 0
    said = capsys.readouterr().out
    assert "Of 2 runs, #2 the first, not all could be read." in said and "4 values are lacking" in said
    for copy in (first, second):
        opened = open_path(copy)
        (lost,) = opened.runs[1].lost
        assert not opened.runs[0].lost and not opened.notes
        assert lost.startswith(
            "When this run was saved, not all of it could be read. The file data/000001.safetensors"
        )
        assert lost.endswith("values of this run lie behind that. 2 values are lacking, x:0 the first.")
        assert lost in opened.runs[1].shortcomings
        value = opened.runs[1].tensors.value(0)
        assert isinstance(value, NoValue)
        assert value.lack is Lack.DAMAGED
        unread = "When this run was saved, it could not be read: The file data/000001.safetensors ends at byte "
        assert value.text.startswith(unread) and value.text.count("could not be read") == 1
        assert [text for text, advice in examined(copy).troubles if advice] == [f"Run 2 and 1 more: {lost}"]


def test_a_feed_that_cannot_be_read_is_lacking_in_the_copy(tmp_path: Path) -> None:
    run = made_run(op("y", "Exp", value=X), feeds={"x:0": NoValue(Lack.DAMAGED, "It is cut off.")})
    copy = _recording(tmp_path / "copy", run)
    assert open_path(copy).runs[0].lost == (
        "When this run was saved, not all of it could be read. 1 value is lacking, x:0 the first: It is cut off.",
    )


def test_origin_says_what_tells_why_tensors_cannot_be_read(cut: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["open", str(cut), "-c", "runs 2", "-c", "origin"]) == 0
    told = capsys.readouterr().out
    assert "2 tensors could not be read. Why is told of the first by pt x:0\n" in told and "a ?" not in told


def test_runs_of_which_alerts_cannot_tell_are_not_counted_as_fine(
    cut: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: 0 runs with NaN or infinity, where those that hold some could not be read."""
    assert cli.main(["open", str(cut), "-c", "alerts", "-c", "runs"]) == 0
    told = capsys.readouterr().out
    assert "Of 4 tensors nobody can tell: what is kept of 4 is damaged. `tfdbg doctor` says" in told
    assert "0 runs with NaN or infinity; of 2 runs nobody can tell: alerts" in told
    rows = [line.split()[:3] for line in told.splitlines() if "run #" in line and line.lstrip("● ")[:1].isdigit()]
    assert rows[1:] == [["2", "?", "?"], ["3", "?", "?"]]
    assert cli.main(["open", str(cut), "--json", "-c", "alerts"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["unknown"], found["damaged"], found["unreadable"]) == (4, 4, 0)


def test_what_is_said_of_damage_says_what_to_do(cut: Path, tmp_path: Path) -> None:
    """A blind test: several sentences had no way out."""
    (cut / "recording.json").write_text("{")
    assert open_path(cut).notes[0] == (
        "The file recording.json is damaged. The runs can be looked at without it; copy it again."
    )
    index = bytearray((cut / "index.sqlite").read_bytes())
    index[100:] = b"\xff" * (len(index) - 100)
    (cut / "index.sqlite").write_bytes(index)
    with pytest.raises(TfdbgError, match="is damaged") as raised:
        open_path(cut)
    assert raised.value.hint.startswith("Copy index.sqlite again, or record the program again")
    [(_, advice)] = examined(cut).troubles
    assert advice == raised.value.hint
