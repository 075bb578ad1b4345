"""What a scan found is kept for the next opening, and forgotten when the recording changes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import sample_run

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.query import kept_scans
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.formats.container.store import RecordedTensors
from tfdbg_cli.formats.container.stored import StoredElements
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.paths import scans_folder

COUNT = 20


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of two runs of the same number; the tensor 7 of the first is bad, of the second the tensor 3."""
    monkeypatch.setattr(kept_scans, "_WORTH_TENSORS", COUNT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    writer = RecordingWriter(tmp_path / "case")
    for bad in (7, 3):
        values = [np.full(4, np.nan if i == bad else 1, np.float32) for i in range(COUNT)]
        rows = [
            describe(TensorName(f"n{i}", 0), value, device="", op_type="Add", dtype="float32")
            for i, value in enumerate(values)
        ]
        writer.write(replace(sample_run.run_end().run, tensors=MemoryTensorStore(rows, values)))
    writer.close()
    return tmp_path / "case"


def _found(path: Path, command: str = "lt -f has_nan", run: int = 0) -> list[str]:
    context = Context(open_path(path), width=100)
    context.select_run(run)
    answer = execute(command, context, standard_registry())
    assert isinstance(answer, Document)
    return [tensor["name"] for tensor in answer.data()["tensors"]]


def _nothing_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*arguments: object) -> None:
        raise AssertionError("a value was read")

    monkeypatch.setattr(StoredElements, "_content", read)
    monkeypatch.setattr(RecordedTensors, "finite", read)


def _listed(path: Path, run: int = 0) -> list[str]:
    """The rows of the list: unlike JSON they tell nothing of what the tensors hold."""
    context = Context(open_path(path), width=100)
    context.select_run(run)
    answer = execute("lt -f has_nan", context, standard_registry())
    assert isinstance(answer, Document)
    return [f"n{i}" for i in range(COUNT) if any(f" n{i}:0" in line.text for line in answer.lines(100))]


def test_the_next_opening_reads_no_value(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (_found(recording), _found(recording, run=1)) == (["n7:0"], ["n3:0"])
    _nothing_can_be_read(monkeypatch)
    assert (_listed(recording), _listed(recording, 1)) == (["n7"], ["n3"])


def test_another_filter_is_asked_by_itself(recording: Path) -> None:
    assert _found(recording) == ["n7:0"]
    assert _found(recording, "lt -f has_inf") == []
    assert _found(recording, "lt -f magnitude_above:0.5") != _found(recording, "lt -f magnitude_above:2")
    assert len(list(scans_folder().iterdir())) == 4


@pytest.mark.parametrize("name", ["index.sqlite", "data/000001.safetensors"])
def test_a_recording_that_changed_is_scanned_anew(
    recording: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _found(recording) == ["n7:0"]
    os.utime(recording / name, ns=(1, 1))
    _nothing_can_be_read(monkeypatch)
    with pytest.raises(AssertionError, match="a value was read"):
        _listed(recording)


def test_a_part_of_the_run_is_not_kept(recording: Path) -> None:
    assert _found(recording, "lt -f has_nan -n n1") == []
    assert not scans_folder().exists()


@pytest.mark.parametrize("kept", [b"", b"\x00" * (COUNT - 1), b"\x00" * (COUNT + 1), b"\x07" * COUNT])
def test_what_is_no_answer_is_not_believed(recording: Path, kept: bytes) -> None:
    assert _found(recording) == ["n7:0"]
    (file,) = scans_folder().iterdir()
    file.write_bytes(kept)
    assert _found(recording) == ["n7:0"]


def test_where_nothing_can_be_kept_the_scan_goes_on(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans_folder().parent.mkdir(parents=True)
    scans_folder().write_text("in the way")
    assert _found(recording) == ["n7:0"]


def test_the_oldest_answers_go(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_scans, "_MOST_FILES", 2)
    for name in ("has_nan", "has_inf", "all_zero"):
        _found(recording, f"lt -f {name}")
    assert len(list(scans_folder().iterdir())) == 2
