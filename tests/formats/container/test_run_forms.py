"""What runs of the same tensors have in common is found once, and holds for these runs only."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import data_files
from tfdbg_cli.formats.container.run_forms import RunForms
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor


def _tensor(node: str, dtype: str = "float32", execution: int = 0, device: str = "") -> Tensor:
    return Tensor(TensorName(node, 0), device, execution, dtype, (2,), 8, None, "Add")


def _run(*tensors: Tensor) -> Run:
    values = [np.arange(2).astype(tensor.dtype) + at for at, tensor in enumerate(tensors)]
    return Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(tensors, values))


def test_runs_of_the_same_tensors_have_one_form() -> None:
    forms = RunForms()
    first = forms.of([_tensor("a"), _tensor("b", "float64")], range(2))
    assert forms.of([_tensor("a"), _tensor("b", "float64")], range(2)) is first
    assert forms.of([_tensor("a"), _tensor("b")], range(2)) is not first
    assert forms.of([_tensor("a"), _tensor("b", "float64")], [1]) is not first
    assert first.order == [1, 0] and first.names == {0: "a:0", 1: "b:0"}
    forms.forget()
    assert forms.of([_tensor("a"), _tensor("b", "float64")], range(2)) is not first


def test_no_two_tensors_of_a_run_have_one_name() -> None:
    tensors = [_tensor("a"), _tensor("a", execution=1), _tensor("b", device="x"), _tensor("b", device="y"),
               _tensor("b", device="y")]  # fmt: skip
    names = RunForms().of(tensors, range(5)).names
    assert list(names.values()) == ["a:0", "a:0 execution 1", "b:0 on x", "b:0 on y", "b:0 on y (2)"]


def test_rows_after_a_run_that_was_taken_back_point_to_texts_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    writer = RecordingWriter(tmp_path / "r")
    writer.write(_run(_tensor("first")))
    with monkeypatch.context() as disk:
        disk.setattr(data_files.os, "fdatasync", full)
        with pytest.raises(TfdbgError, match="disk is full"):
            writer.write(_run(_tensor("second"), _tensor("third", "int32")))
    writer.write(_run(_tensor("fourth")))
    writer.write(_run(_tensor("second"), _tensor("third", "int32")))
    writer.write(_run(_tensor("second"), _tensor("third", "int32")))
    writer.close()
    nodes = [[tensor.node for tensor in map(run.tensors.__getitem__, range(len(run.tensors)))]
             for run in open_path(tmp_path / "r").runs]  # fmt: skip
    assert nodes == [["first"], ["fourth"], ["second", "third"], ["second", "third"]]


def test_a_value_of_another_type_than_in_the_run_before_has_its_own_row(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    tensor = _tensor("a")
    for value in (np.zeros(2, np.float32), np.zeros(3, np.int64), np.zeros(2, np.float32)):
        writer.write(Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore([tensor], [value])))
    writer.close()
    index = sqlite3.connect(tmp_path / "r" / "index.sqlite")
    rows = index.execute(
        "SELECT d.text, s.text FROM tensors JOIN texts d ON d.id = dtype JOIN texts s ON s.id = shape ORDER BY run"
    ).fetchall()
    index.close()
    assert rows == [("float32", "2"), ("int64", "3"), ("float32", "2")]
