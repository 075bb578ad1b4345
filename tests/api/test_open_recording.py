"""Recordings in scripts and notebooks, without TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.sample_run import LOG, sample_run

import tfdbg_cli as tf_debug
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


@pytest.fixture
def recording(tmp_path: Path) -> tf_debug.Recording:
    writer = RecordingWriter(tmp_path / "r")
    run = sample_run()
    for number in (1, 2, 3):
        writer.write(replace(run, call=replace(run.call, number=number)))
    writer.close()
    return tf_debug.open_recording(tmp_path / "r")


def test_runs_and_their_tensors(recording: tf_debug.Recording) -> None:
    assert [run.call.number for run in recording.runs] == [1, 2, 3]
    tensors = recording.tensors()
    assert len(tensors) == len(sample_run().tensors) and tensors[0].run.call.number == 3
    log = tensors["loss/Log:0"]
    assert (log.name, log.dtype, log.shape) == ("loss/Log:0", "float32", LOG.shape)
    np.testing.assert_array_equal(log, LOG)
    np.testing.assert_array_equal(log[0, :1], LOG[0, :1])
    assert np.asarray(log, np.float64).dtype == np.float64
    assert log.summary.neg_inf == 2 and repr(log) == "<loss/Log:0 of run #3: float32 [4, 2]>"
    assert repr(recording) == f"<{recording.path}: 3 runs>"
    assert repr(recording.tensors("loss/Log")) == "<1 tensor of run #3>"
    assert [str(tensor.name) for tensor in tensors[:2]] == ["x:0", "y:0"]
    assert np.asarray(tensors["step/while/Add"]).item() == 3  # the last of several
    with pytest.raises(KeyError):
        tensors["nobody"]
    with pytest.raises(tf_debug.TfdbgError, match="cold:0 has no value"):
        np.asarray(tensors["cold"])
    assert recording.runs[0].graph.node("loss/Log").op_type == "Log"


def test_queries_are_those_of_lt(recording: tf_debug.Recording) -> None:
    assert [tensor.name for tensor in recording.tensors("loss nan>0", run=0)] == ["loss/mul:0", "loss/Mean:0"]
    assert {tensor.run.call.number for tensor in recording.tensors("size>1KB", run=1)} == {2}
    with pytest.raises(tf_debug.TfdbgError):
        recording.tensors("size>much")
    with pytest.raises(IndexError, match=r"There is no run at the place 3: .* has 3 runs"):
        recording.tensors(run=3)
    with pytest.raises(TfdbgError, match="'x' is no place of a run"):
        recording.tensors(run="x")  # type: ignore[arg-type]


def test_one_tensor_over_all_runs(recording: tf_debug.Recording) -> None:
    assert [tensor.run.call.number for tensor in recording.history("loss/Mean:0")] == [1, 2, 3]
    assert list(recording.history("nobody")) == []


def test_a_notebook_shows_tables_without_markup_of_others(tmp_path: Path) -> None:
    value = np.ones(1, np.float32)
    rows = [describe(TensorName("<b>x", 0), value, device="", op_type="Add", dtype="float32")] * 70
    writer = RecordingWriter(tmp_path / "r")
    writer.write(sample_run(tensors=MemoryTensorStore(rows, [value] * 70)))
    writer.close()
    recording = tf_debug.open_recording(tmp_path / "r")
    shown = recording.tensors()._repr_html_()
    assert "&lt;b&gt;x:0" in shown and "<b>" not in shown and "… 10 more" in shown
    assert "run #3" in recording._repr_html_()


def test_tables_of_pandas_where_it_is(recording: tf_debug.Recording) -> None:
    pandas = pytest.importorskip("pandas")
    table = recording.tensors().to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table["name"])[:2] == ["x:0", "y:0"]
    assert list(recording.to_pandas()["run"]) == [1, 2, 3]


def test_dumps_open_the_same_way(tmp_path: Path) -> None:
    write_dump(sample_run(), tmp_path / "dump")
    np.testing.assert_array_equal(tf_debug.open_recording(str(tmp_path / "dump")).tensors()["loss/Log"], LOG)


def test_a_slice_of_a_large_tensor_reads_that_slice(tmp_path: Path) -> None:
    value = np.zeros((64, 1 << 20), np.uint8)  # 64 MB
    value[40, 7] = 9
    row = describe(TensorName("large", 0), value, device="", op_type="Add", dtype="uint8")
    writer = RecordingWriter(tmp_path / "r")
    writer.write(sample_run(tensors=MemoryTensorStore([row], [value])))
    writer.close()
    script = """
import resource, sys
import tfdbg_cli as tf_debug
tensor = tf_debug.open_recording(sys.argv[1]).tensors()["large"]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(tensor[40, 5:9].tolist(), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    words = [sys.executable, "-c", script, str(tmp_path / "r")]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    read, grown = made.stdout.rsplit(maxsplit=1)
    assert read == "[0, 0, 9, 0]" and int(grown) < 8


def test_tensors_can_be_collected_in_sets(recording: tf_debug.Recording) -> None:
    tensors = [*recording.tensors(), *recording.tensors()]
    assert len(set(tensors)) == len(recording.tensors())
    assert tensors[0] != recording.tensors(run=0)[0]


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tf_debug.TfdbgError, match="No path can be called"):
        tf_debug.open_recording(f"{tmp_path}/a\0b")


def test_without_pandas_it_is_said_what_to_install(
    recording: tf_debug.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blind test: a bare ModuleNotFoundError."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in (recording.to_pandas, recording.tensors().to_pandas):
        with pytest.raises(TfdbgError, match="needs pandas, which is not installed") as caught:
            table()
        assert caught.value.hint == "pip install pandas"


def test_a_place_beyond_the_tensors_is_told_with_how_many_there_are(recording: tf_debug.Recording) -> None:
    """A blind test: "range object index out of range"."""
    tensors = recording.tensors()
    for place in (10**6, len(tensors), -len(tensors) - 1):
        with pytest.raises(IndexError, match=rf"no tensor at the place {place}: {len(tensors)} tensors of run #3\."):
            tensors[place]
    assert len(list(iter(tensors))) == len(tensors) and tensors[-1] == tensors[len(tensors) - 1]
