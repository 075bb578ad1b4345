"""What lies in another file system opens by its address as its copy would, and no more is read than is shown."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from support import graph_file_maker
from support.checkpoint_maker import checkpoint
from support.dump_maker import small_dump
from support.event_set_maker import EventSetMaker, proto, small_set
from support.far_files import BrokenFiles, CountedFiles, put
from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.api.recordings import open_recording
from tfdbg_cli.capture.dump_folders import empty_folder
from tfdbg_cli.cli.main import main
from tfdbg_cli.commands.file_name import named_file
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.remote.extents import Extents
from tfdbg_cli.formats.remote.far_file import FarFile
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array, NoValue, Value

_LARGE = 1 << 22  # elements of a large tensor


@pytest.fixture(autouse=True)
def nothing_far(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
    for system in (MemoryFileSystem, CountedFiles):
        system.store.clear()
        system.pseudo_dirs[:] = [""]
    CountedFiles.read.clear()


def _recording(path: Path, *runs: Run) -> Path:
    writer = RecordingWriter(path)
    for run in runs or (sample_run(), sample_run()):
        writer.write(run)
    writer.close()
    return path


def _large(*arrays: Array) -> Run:
    names = [TensorName(f"large_{place}", 0) for place in range(len(arrays))]
    rows = [
        describe(name, array, device="", op_type="Add", dtype=str(array.dtype))
        for name, array in zip(names, arrays, strict=True)
    ]
    return Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(rows, arrays))


def _dumps(path: Path) -> Path:
    for number in (1, 2):
        small_dump(path / f"run_{1000 * number}_{number}")
    return path


def _dump(path: Path) -> Path:
    path.mkdir()
    small_dump(path)
    return path


def _event_set(path: Path) -> Path:
    small_set(path)
    return path


def _checkpoint(path: Path) -> Path:
    path.mkdir()
    checkpoint(path / "model.ckpt-1", {"weights": np.arange(6, dtype=np.float32).reshape(2, 3)})
    return path


def _saved_model(path: Path) -> Path:
    path.mkdir()
    graph_file_maker.saved_model(path)
    return path


def _graph(path: Path) -> Path:
    path = path.with_suffix(".pb")
    path.write_bytes(graph_file_maker.graph_def().SerializeToString())
    return path


_MAKERS: tuple[Callable[[Path], Path], ...] = (
    _recording, _dump, _dumps, _event_set, _checkpoint, _saved_model, _graph,
)  # fmt: skip


def _bits(value: Value) -> object:
    if isinstance(value, NoValue):
        return value
    return value.tolist() if value.dtype.hasobject else value.tobytes()


def _told(stop: Opened) -> list[object]:
    """All that a recording tells, values by their bytes."""
    told: list[object] = [stop.noun, len(stop.runs)]
    for run in stop.runs:
        store = run.tensors
        values = [store.value(place) for place in range(len(store))]
        told.append([store[place] for place in range(len(store))])
        told.append([_bits(value) for value in values])
        told += [run.call.title, sorted(run.graph.names())]
    return told


@pytest.mark.parametrize("make", _MAKERS, ids=lambda make: make.__name__.strip("_"))
@pytest.mark.parametrize("protocol", ["memory", "file", "counted"])
def test_what_is_far_is_what_its_copy_is(make: Callable[[Path], Path], protocol: str, tmp_path: Path) -> None:
    path = make(tmp_path / "case")
    address = f"file://{path}" if protocol == "file" else put(path, protocol, f"bucket/{protocol}/{path.name}")
    far, near = open_path(address), open_path(path)
    assert _told(far) == _told(near)
    assert far.path == address
    said = [text for run in far.runs for text in (run.origin_path, *run.notes)] + list(far.notes)
    assert not any("tfdbg-" in text for text in said)
    assert all(run.origin_path.startswith(address) for run in far.runs)


@pytest.mark.parametrize("make", _MAKERS, ids=lambda make: make.__name__.strip("_"))
def test_doctor_says_of_an_address_what_it_says_of_a_copy(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path / "case")
    address = put(path, "memory", f"doctor/{path.name}")
    here, there = examined(path), examined(address)
    assert there.what == here.what
    assert [fact.replace(address, str(path)) for fact in there.facts] == list(here.facts)
    assert [text.replace(address, str(path)) for text, _ in there.troubles] == [text for text, _ in here.troubles]


def test_a_bundle_opens_by_its_address_and_is_not_replayed_there(tmp_path: Path) -> None:
    spec = ReplaySpec(RunKind.FUNCTION, b"", "f", ("y",), (), (), {})
    write_bundle(sample_run(), spec, tmp_path / "bundle")
    address = put(tmp_path / "bundle", "memory", "bundles/one")
    stop = open_path(address)
    assert len(stop.runs) == 1
    assert "once the folder is copied to this machine" in stop.notes[0]
    assert "that lies on this machine" in Prompt(stop).error("again").hint
    assert main(["replay", address]) == 1


def test_a_checkpoint_is_named_as_tensorflow_names_it(tmp_path: Path) -> None:
    _checkpoint(tmp_path / "models")
    address = put(tmp_path / "models", "memory", "models")
    for name in ("model.ckpt-1", "model.ckpt-1.index"):
        stop = open_path(f"{address}/{name}")
        value = stop.runs[0].tensors.value(0)
        assert not isinstance(value, NoValue)
        assert value.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_slice_of_a_large_tensor_reads_that_slice_alone(tmp_path: Path) -> None:
    large = np.arange(_LARGE, dtype=np.float32).reshape(64, -1)
    address = put(_recording(tmp_path / "case", _large(large, large + 1)), "counted", "bucket/case")
    recording = open_recording(address)
    tensor = recording.tensors()["large_1"]
    assert CountedFiles.bytes_read(".safetensors") == 0, "opening reads no elements"
    row = tensor[17, :100]
    assert row.tolist() == (large[17, :100] + 1).tolist()
    assert CountedFiles.bytes_read(".safetensors") <= 2 << 16
    column = tensor[:, 5]
    assert column.tolist() == (large[:, 5] + 1).tolist()
    assert CountedFiles.bytes_read(".safetensors") <= 70 << 16
    before = CountedFiles.bytes_read()
    assert tensor[17, 5] == large[17, 5] + 1
    assert tensor[-47, 20:10:-2].tolist() == (large[17, 20:10:-2] + 1).tolist()
    assert CountedFiles.bytes_read() == before, "what is there is not read again"
    assert np.array_equal(tensor[[3, 40]], large[[3, 40]] + 1)
    assert np.array_equal(np.asarray(tensor), large + 1)
    assert CountedFiles.bytes_read(".safetensors") <= large.nbytes + (2 << 16), "and nothing of the other tensor"


def test_a_data_file_of_another_recording_is_told_of_where_its_values_are_read(tmp_path: Path) -> None:
    path = _recording(tmp_path / "case", _large(np.zeros(9, np.float32), np.ones(5, np.float32)))
    other = _recording(tmp_path / "other", _large(np.zeros(40, np.float32), np.ones(50, np.float32)))
    (data,) = (other / "data").iterdir()
    shutil.copy(data, path / "data")
    value = open_path(put(path, "counted", "bucket/swapped")).runs[0].tensors.value(1)
    assert isinstance(value, NoValue) and "is not the one that index.sqlite tells of" in value.text


def test_a_slice_at_the_prompt_reads_that_slice_alone(tmp_path: Path) -> None:
    large = np.arange(_LARGE, dtype=np.float32).reshape(64, -1)
    address = put(_recording(tmp_path / "case", _large(large)), "counted", "bucket/prompt")
    shown = Prompt(open_path(address)).show("pt large_0[3,:4]")
    assert "196608" in shown
    assert CountedFiles.bytes_read(".safetensors") <= 2 << 16


def test_a_slice_of_a_large_variable_reads_that_slice_alone(tmp_path: Path) -> None:
    weights = np.arange(5 << 20, dtype=np.float32)
    checkpoint(tmp_path / "ckpt" / "model", {"weights": weights})
    address = put(tmp_path / "ckpt", "counted", "bucket/ckpt")
    tensor = open_recording(f"{address}/model").tensors()["weights"]
    assert tensor[70_000:70_003].tolist() == [70_000, 70_001, 70_002]
    assert CountedFiles.bytes_read("-of-00001") <= 2 << 16
    assert np.array_equal(tensor.value, weights)


def test_events_are_fetched_by_blocks_as_they_are_read(tmp_path: Path) -> None:
    large = np.zeros(1 << 20, np.float32)
    made = EventSetMaker(tmp_path / "set", mode=7)
    made.device()
    made.graph("g", "step")
    made.op("g", "x", "Placeholder")
    for call in range(6):
        made.trace("g", "x", proto(large + call))
        made.execution("__inference_step_12", [4], [10 + call], [proto(large[:1])], graph="g")
    address = put(tmp_path / "set", "counted", "bucket/set")
    stop = open_path(address)
    value = stop.runs[0].tensors.value(0)
    assert not isinstance(value, NoValue)
    assert np.array_equal(value, large)
    assert CountedFiles.bytes_read("_traces") <= 4 * large.nbytes, "what later calls made is not read"


def test_slices_of_values_that_are_made_when_they_are_read(tmp_path: Path) -> None:
    flags = np.arange(1 << 18) % 3 == 0
    texts = np.array([b"a" * 40, b"b"] * 4000, object)
    address = put(_recording(tmp_path / "case", _large(flags, texts)), "counted", "bucket/made")
    tensors = open_recording(address).tensors()
    assert tensors["large_0"][:4].tolist() == [True, False, False, True]
    assert tensors["large_1"][1] == b"b"


def test_a_scan_reads_all_of_it_once(tmp_path: Path) -> None:
    bad = np.zeros(_LARGE, np.float32)
    bad[-1] = np.nan
    address = put(_recording(tmp_path / "case", _large(bad, np.zeros(9, np.float32))), "counted", "bucket/scan")
    assert "large_0" in (prompt := Prompt(open_path(address))).show("lt -f has_inf_or_nan")
    assert "large_1" not in prompt.show("lt -f has_inf_or_nan")
    assert CountedFiles.bytes_read(".safetensors") <= bad.nbytes + (2 << 16)


def test_two_addresses_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = put(_recording(tmp_path / "a", _large(np.zeros(9, np.float32))), "memory", "bucket/a")
    second = put(_recording(tmp_path / "b", _large(np.ones(9, np.float32))), "memory", "bucket/b")
    assert main(["diff", first, first]) == 0
    assert main(["diff", first, second]) == 1
    assert "large_0" in capsys.readouterr().out


def test_what_is_brought_is_removed_when_python_ends(tmp_path: Path) -> None:
    path = _recording(tmp_path / "case")
    (tmp_path / "scratch").mkdir()
    script = f"from tfdbg_cli.formats.opening import open_path\nprint(len(open_path('file://{path}').runs))"
    environ = {"TMPDIR": str(tmp_path / "scratch"), "PATH": "", "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_network_that_fails_costs_what_was_asked_and_says_so(tmp_path: Path) -> None:
    large = np.arange(_LARGE, dtype=np.float32)
    path = _recording(tmp_path / "case", _large(large))
    put(path, "counted", "bucket/case")
    with pytest.raises(TfdbgError) as caught:
        open_path("broken://bucket/case")
    assert "Connection reset by peer" in caught.value.message
    assert "broken://bucket/case" in caught.value.message
    assert "tfdbg-" not in caught.value.message
    tensor = open_recording("counted://bucket/case").tensors()["large_0"]
    original, CountedFiles.cat_file = CountedFiles.cat_file, BrokenFiles.cat_file  # type: ignore[method-assign]
    CountedFiles.error = BrokenFiles.error  # type: ignore[attr-defined]
    try:
        with pytest.raises(TfdbgError, match=r"could not be fetched \(ConnectionResetError: Connection reset by"):
            tensor[:10]
        with pytest.raises(TfdbgError, match="could not be fetched"):
            tensor.value  # noqa: B018
    finally:
        CountedFiles.cat_file = original  # type: ignore[method-assign]
    assert tensor[:3].tolist() == [0, 1, 2], "a network that works again is asked again"


def test_a_store_that_gives_too_few_parts_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.arange(_LARGE, dtype=np.float32)
    address = put(_recording(tmp_path / "case", _large(large)), "counted", "bucket/few")
    tensor = open_recording(address).tensors()["large_0"]
    monkeypatch.setattr(CountedFiles, "cat_ranges", lambda *words, **named: [])
    with pytest.raises(TfdbgError, match=r"could not be fetched \(ValueError"):
        tensor[:10]


def test_a_file_that_changed_meanwhile_is_not_taken_for_the_one_that_was_opened(tmp_path: Path) -> None:
    large = np.arange(_LARGE, dtype=np.float32)
    address = put(_recording(tmp_path / "case", _large(large)), "counted", "bucket/changed")
    tensor = open_recording(address).tensors()["large_0"]
    name = next(name for name in CountedFiles.store if name.endswith(".safetensors"))
    CountedFiles().pipe_file(name, b"short")
    with pytest.raises(TfdbgError, match="another one than when it was opened"):
        tensor[-10:]


def test_a_file_that_was_written_anew_as_long_as_it_was_is_another_one(tmp_path: Path) -> None:
    large = np.arange(_LARGE, dtype=np.float32)
    address = put(_recording(tmp_path / "case", _large(large)), "counted", "bucket/anew")
    tensor = open_recording(address).tensors()["large_0"]
    assert tensor[:3].tolist() == [0, 1, 2]
    name = next(name for name in CountedFiles.store if name.endswith(".safetensors"))
    CountedFiles().pipe_file(name, bytes(len(CountedFiles.store[name].getvalue())))
    with pytest.raises(TfdbgError, match=r"another one than when it was opened: somebody has written it anew"):
        tensor[-10:]
    with pytest.raises(TfdbgError, match="written it anew"):
        tensor[:3]  # what was there is of the other file, too
    again = open_recording(address).tensors()["large_0"]
    assert again[-3:].tolist() == [0, 0, 0]


def test_marks_of_files_are_compared_as_stores_tell_them() -> None:
    def file(size: int | None = 5, **marks: object) -> FarFile:
        return FarFile.of({"name": "x", "size": size, **marks})

    moment = datetime(2026, 1, 2, tzinfo=UTC)
    assert file(ETag='"abc"', LastModified=1).is_still(file(ETag="abc", LastModified=2)), "the same bytes again"
    assert file(etag='W/"a"', **{"Last-Modified": "Mon"}).is_still(file(etag='"b"', **{"Last-Modified": "Mon"}))
    assert file(created=moment.timestamp()).is_still(file(created=moment))
    assert file(mtime=1.5, created=1).is_still(file(mtime=1.5, created=2)), "a file of this machine was renamed"
    assert file().is_still(file(etag="a")), "nothing tells"
    assert file(None).is_still(file(7))
    assert not file(mtime=1.5).is_still(file(mtime=2.5))
    assert not file(etag="a", generation="1").is_still(file(etag="b", generation="2"))
    assert not file(5, etag="a").is_still(file(6, etag="a"))


def test_what_is_not_there_and_what_is_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TfdbgError, match="There is no memory://bucket/nothing") as caught:
        open_path("memory://bucket/nothing")
    assert "address" in caught.value.hint
    with pytest.raises(TfdbgError, match="no address that fsspec knows"):
        open_path("nonsense://bucket/case")
    with pytest.raises(TfdbgError, match="names no file"):
        open_path("memory://")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(TfdbgError, match=r"fsspec.*not installed") as caught:
        open_path("gs://bucket/case")
    assert "pip install 'tfdbg-cli[remote]' gcsfs" in caught.value.hint


def test_a_file_system_whose_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(TfdbgError, match="package that reads s3:// is not installed") as caught:
        open_path("s3://bucket/case")
    assert caught.value.hint == "pip install s3fs"


def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    address = put(_recording(tmp_path / "case"), "counted", "bucket/odd")
    for name in ("../../escaped", "data//twice", "x" * 300):
        CountedFiles.store[f"/bucket/odd/{name}"] = CountedFiles.store["/bucket/odd/recording.json"]
    stop = open_path(address)
    assert len(stop.runs) == 2
    assert any("names that no file here can have" in note for note in stop.notes)


def test_nothing_is_written_to_an_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = Prompt(Opened("", (sample_run(),)))
    for command in ("pt loss/Log:0 -w memory://bucket/x.npy", "bundle memory://bucket/b"):
        with pytest.raises(TfdbgError, match="is an address"):
            prompt.show(command)
    assert main(["run", "--record", "gs://bucket/x", __file__]) == 1
    assert main(["tail", "gs://bucket/x"]) == 1
    assert capsys.readouterr().err.count("is an address") == 2


@pytest.mark.parametrize("root", ["gs://bucket/dumps", "simplecache::s3://bucket/dumps", Path("gs://bucket/dumps")])
def test_dumps_and_recordings_are_not_written_to_an_address(
    root: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^dump_root: .* is an address.*Choose a folder here, and copy it there"):
        empty_folder(str(root), "dump_root")
    with pytest.raises(TfdbgError, match="is an address"):
        named_file(str(root))
    assert list(tmp_path.iterdir()) == []


def test_folders_with_a_colon_are_no_addresses(tmp_path: Path) -> None:
    for name in ("a:b", "12:30/run", "./gs:/x", "C:/x"):
        assert named_file(name) == Path(name)


def test_parts_that_are_there() -> None:
    rng = np.random.default_rng(0)
    extents, there = Extents(), np.zeros(300, bool)
    for _ in range(400):
        start, end = sorted(rng.integers(0, 300, 2).tolist())
        missing = np.zeros(300, bool)
        for first, last in extents.missing(start, end):
            assert first < last
            missing[first:last] = True
        expected = ~there & (np.arange(300) >= start) & (np.arange(300) < end)
        assert missing.tolist() == expected.tolist()
        if rng.random() < 0.1 and start < end:
            extents.add(start, end)
            there[start:end] = True
        if there.mean() > 0.8:
            extents, there = Extents(), np.zeros(300, bool)
