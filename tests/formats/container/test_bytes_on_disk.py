"""A recording takes little more than the elements in it: what each tensor takes besides, in bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array


def _run(values: list[Array]) -> Run:
    names = [TensorName(f"layer_{place // 20}/op_{place % 20}", 0) for place in range(len(values))]
    rows = [
        describe(name, value, device="/device:CPU:0", op_type="Add", dtype=str(value.dtype), time_us=10 * place)
        for place, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    return Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(rows, values))


def _besides(path: Path, run: Run, count: int) -> tuple[float, int]:
    """Bytes that a tensor takes beside its elements when the run is recorded `count` times, and the files."""
    writer = RecordingWriter(path)
    for number in range(1, count + 1):
        writer.write(replace(run, call=replace(run.call, number=number)))
    writer.close()
    files = [file for file in path.rglob("*") if file.is_file()]
    elements = count * sum(run.tensors[place].nbytes or 0 for place in range(len(run.tensors)))
    besides = (sum(file.stat().st_size for file in files) - elements) / (count * len(run.tensors))
    assert len(open_path(path).runs) == count
    return besides, len(files)


def test_a_tensor_takes_some_two_hundred_bytes_beside_its_elements(tmp_path: Path) -> None:
    besides, _ = _besides(
        tmp_path / "case", _run([np.zeros(16 + place % 64, np.float32) for place in range(4000)]), 1
    )
    assert besides <= 200


@pytest.mark.parametrize("count", [2, 7, 20])
def test_runs_of_the_same_program_share_what_they_have_in_common(tmp_path: Path, count: int) -> None:
    run = _run([np.zeros(16 + place % 64, np.float32) for place in range(1000)])
    besides, files = _besides(tmp_path / "case", run, count)
    assert besides <= 230
    assert files <= 10, "each file leaves room for as much as there is before it"


def test_what_is_not_recorded_leaves_no_room(tmp_path: Path) -> None:
    run = _run([np.zeros(16, np.float32) for _ in range(2000)])
    writer = RecordingWriter(tmp_path / "case", selection=lambda run: lambda tensor: tensor.node == "layer_0/op_0")
    writer.write(run)
    writer.close()
    (file,) = (tmp_path / "case" / "data").iterdir()
    assert file.stat().st_size <= 8192


@pytest.mark.parametrize("compressed", [False, True])
def test_entries_that_are_longer_than_planned_go_on_in_another_file(tmp_path: Path, compressed: bool) -> None:
    """Their names are known beforehand, their number of bytes is not."""
    texts = [np.array([b"x" * (place % 3000)], object) for place in range(300)]
    writer = RecordingWriter(tmp_path / "case", compressed=compressed)
    writer.write(_run(texts))
    writer.close()
    store = open_path(tmp_path / "case").runs[0].tensors
    assert [store.value(place).tolist() for place in range(300)] == [text.tolist() for text in texts]  # type: ignore[union-attr]


def test_long_recordings_of_large_tensors_leave_no_room_for_runs_that_do_not_fit(tmp_path: Path) -> None:
    """A file that is full after some runs needs a header for those, however many files came before it."""
    values = [np.zeros(1 << 12, np.float32) for _ in range(64)]  # 1 MB a run, and 8 KB of a header
    run = _run(values)
    writer = RecordingWriter(tmp_path / "case", budget=64 << 20)  # files of 8 MB
    for number in range(1, 55):  # so many that the last file is full, too
        writer.write(replace(run, call=replace(run.call, number=number)))
    writer.close()
    files = sorted((tmp_path / "case" / "data").iterdir())
    assert len(files) >= 5
    for file in files:
        with file.open("rb") as opened:
            room = int.from_bytes(opened.read(8), "little")
            used = len(opened.read(room).rstrip())
        assert room <= 2.5 * used, f"{file.name} has {room} bytes for a header of {used}"
