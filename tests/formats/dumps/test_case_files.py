"""What tfdbg adds to a dump, written and read again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dump_maker import CPU0, small_dump
from support.prompt import text_of
from support.sample_run import CALL, TRACEBACKS, TRAIN_PY, sample_run
from support.saved_sources import SavedSources

from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.case_writer import add_case_files
from tfdbg_cli.formats.dumps.examination import examine
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.graph import RUNTIME_GRAPH_SHOWN, GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, LostTracebacks
from tfdbg_cli.model.values import NoValue

FEEDS = {
    "x:0": np.ones((2, 2), np.float32),
    "list:0": [[1, 2], [3, 4]],
    "number:0": 3.5,
    "flag:0": True,
    "text:0": "Käse",
    "texts:0": [b"a", b"\xff"],
    "lost:0": None,
    "odd:0": object(),
    "ragged:0": [[1], [2, 3]],
}


def added(directory: Path, **changes: object) -> Run:
    """A small dump with the case of the sample run added, read again."""
    small_dump(directory)
    add_case_files(directory, replace(read_dump(directory), **changes))  # type: ignore[arg-type]
    return read_dump(directory)


def test_everything_comes_back(tmp_path: Path) -> None:
    error = RunError("InvalidArgumentError", "a message\nof two lines", "double", "no inputs", ("KeyError: 1",))
    profile = Profile((NodeTime("x", "Placeholder", CPU0, 0.0, 1.5, 2.0),))
    run = added(
        tmp_path, call=replace(CALL, thread="MainThread", notes=("a note",)), tracebacks=TRACEBACKS,
        sources=SavedSources({"/home/ada/train.py": TRAIN_PY}), error=error, profile=profile, notes=("kept note",),
        python_graph=sample_run().graph,
    )  # fmt: skip
    assert (run.error, run.profile, run.notes) == (error, profile, ("kept note",))
    assert dict(run.tracebacks) == TRACEBACKS
    assert (run.call.number, run.call.kind, run.call.thread, run.call.notes) == (
        3,
        CALL.kind,
        "MainThread",
        ("a note",),
    )
    assert run.call.title == CALL.title
    assert run.graph.kind is GraphKind.RUNTIME and "double" in run.graph
    assert run.python_graph is not None and run.python_graph.kind is GraphKind.PYTHON
    assert dict(run.python_graph.node("loss/Log").attributes) == {"T": "float32"}
    assert len(run.tensors) == 4


def test_sources_are_whole_and_kept_once(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of the program, ünïcode, \udcff" for number in range(30_000))
    frames = {
        "x": (Frame("/a.py", 1, "f"), Frame("/b.py", 2, "g"), Frame("/c.py", 3, "h"), Frame("/none.py", 1, "i"))
    }
    sources = SavedSources({"/a.py": long, "/b.py": TRAIN_PY, "/c.py": TRAIN_PY})
    run = added(tmp_path, tracebacks=frames, sources=sources)
    assert list(run.sources.lines("/a.py") or ()) == long.split("\n")
    assert run.sources.lines("/c.py") == sources.lines("/c.py")
    assert run.sources.lines("/none.py") is None and run.sources.lines("/other.py") is None
    assert len(list((tmp_path / "_tfdbg_cli" / "sources").iterdir())) == 2


def test_feeds_keep_their_values_where_an_array_can(tmp_path: Path) -> None:
    feeds = added(tmp_path, call=Call(1, RunKind.SESSION, (), FEEDS)).call.feeds
    assert list(feeds) == list(FEEDS) and len(feeds) == len(FEEDS)
    assert np.array_equal(feeds["x:0"], FEEDS["x:0"]) and feeds["x:0"].dtype == np.float32
    assert feeds["list:0"].tolist() == [[1, 2], [3, 4]]
    assert (feeds["number:0"].item(), feeds["flag:0"].item(), feeds["text:0"].item()) == (3.5, True, "Käse".encode())
    assert feeds["texts:0"].tolist() == [b"a", b"\xff"]
    assert [feeds[name] for name in ("lost:0", "odd:0", "ragged:0")] == [None] * 3
    with pytest.raises(KeyError):
        feeds["other:0"]


def test_a_callable_without_known_fetches(tmp_path: Path) -> None:
    assert added(tmp_path, call=Call(9, RunKind.CALLABLE, ())).call.title == "run #9: runner from make_callable()"


def test_adding_again_replaces(tmp_path: Path) -> None:
    added(tmp_path, notes=("first",))
    assert added(tmp_path, notes=("second",)).notes == ("second",)
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_the_case_can_replace_a_missing_graph(tmp_path: Path) -> None:
    run = added(tmp_path, python_graph=read_dump(small_dump(tmp_path)).graph)
    for path in tmp_path.rglob("_tfdbg_graph_*"):
        path.unlink()
    again = read_dump(tmp_path)
    assert again.tensors[1].op_type == run.tensors[1].op_type == "Mul"
    assert again.graph.kind is GraphKind.PYTHON


@pytest.mark.parametrize("name", ["case.json", "tracebacks.json", "profile.json", "python_graph.pb"])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b'{"format": 1}', b'{"call": 3, "nodes": {"x": 7}, "times": 1}', b"\xff"]
)
def test_a_damaged_part_costs_that_part(tmp_path: Path, name: str, content: bytes) -> None:
    added(tmp_path, tracebacks=TRACEBACKS, python_graph=sample_run().graph, profile=Profile(()))
    (tmp_path / "_tfdbg_cli" / name).write_bytes(content)
    run = read_dump(tmp_path)
    assert len(run.tensors) == 4
    assert run.notes or (name, content) in {("tracebacks.json", b'{"format": 1}'), ("python_graph.pb", b"")}
    assert run.call.title and run.graph_kind is GraphKind.RUNTIME


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"format": 1}', b'{"nodes": {"x": 7}}'])
def test_tracebacks_that_are_lost_are_known_to_be(tmp_path: Path, content: bytes | None) -> None:
    added(tmp_path / "whole", tracebacks={})
    assert not isinstance(read_dump(tmp_path / "whole").tracebacks, LostTracebacks)
    added(tmp_path / "lost", tracebacks=TRACEBACKS)
    path = tmp_path / "lost" / "_tfdbg_cli" / "tracebacks.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert isinstance(read_dump(tmp_path / "lost").tracebacks, LostTracebacks)


def test_a_run_whose_runtime_graph_is_not_there_is_not_said_to_show_it(tmp_path: Path) -> None:
    """A blind test: "Python graph of 161 nodes" and "This is the runtime graph" of a run that was fed all."""
    shown = added(tmp_path, python_graph=sample_run().graph, notes=(RUNTIME_GRAPH_SHOWN,))
    assert (shown.graph_kind, shown.notes) == (GraphKind.RUNTIME, (RUNTIME_GRAPH_SHOWN,))
    for path in tmp_path.glob("_tfdbg_device_*/_tfdbg_graph_*"):
        path.unlink()
    lost = read_dump(tmp_path)
    assert lost.graph_kind is GraphKind.PYTHON
    assert list(lost.notes) == ["The graph that TensorFlow ran was not saved; the program's own is shown."]
    for path in tmp_path.glob("_tfdbg_device_*"):
        shutil.rmtree(path)
    assert all("dump holds no tensors" in note for note in read_dump(tmp_path).notes), "nothing was to be run"


def test_a_hash_is_never_a_path(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    dump = tmp_path / "dump"
    added(dump, tracebacks=TRACEBACKS, sources=SavedSources({"/home/ada/train.py": TRAIN_PY}))
    case = dump / "_tfdbg_cli" / "case.json"
    fields = json.loads(case.read_text())
    for name in ("../../../secret", str(tmp_path / "secret"), "0" * 64, 7, None):
        fields["sources"] = {"/home/ada/train.py": name}
        case.write_text(json.dumps(fields))
        assert read_dump(dump).sources.lines("/home/ada/train.py") is None


def test_links_in_the_case_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    dump = tmp_path / "dump"
    added(dump, tracebacks=TRACEBACKS, sources=SavedSources({"/home/ada/train.py": TRAIN_PY}))
    (source,) = (dump / "_tfdbg_cli" / "sources").iterdir()
    source.unlink()
    source.symlink_to(tmp_path / "secret")
    run = read_dump(dump)
    assert run.sources.lines("/home/ada/train.py") != ["secret"]
    assert any("holds links" in note for note in run.notes)


def test_a_source_that_was_changed_is_not_shown(tmp_path: Path) -> None:
    added(tmp_path, tracebacks=TRACEBACKS, sources=SavedSources({"/home/ada/train.py": TRAIN_PY}))
    (source,) = (tmp_path / "_tfdbg_cli" / "sources").iterdir()
    source.write_text("something else")
    assert read_dump(tmp_path).sources.lines("/home/ada/train.py") is None


def test_a_newer_format_is_said(tmp_path: Path) -> None:
    added(tmp_path)
    case = tmp_path / "_tfdbg_cli" / "case.json"
    case.write_text(json.dumps(json.loads(case.read_text()) | {"format": 99}))
    assert any("newer tfdbg" in note for note in read_dump(tmp_path).notes)


@pytest.mark.parametrize("name", ["case.json", "tracebacks.json", "profile.json", "python_graph.pb"])
def test_a_part_that_is_missing_is_told(tmp_path: Path, name: str) -> None:
    whole = added(tmp_path, tracebacks=TRACEBACKS, python_graph=sample_run().graph, profile=Profile(()))
    assert not whole.notes
    (tmp_path / "_tfdbg_cli" / name).unlink()
    (note,) = read_dump(tmp_path).notes
    assert note.startswith(f"The file {name} is missing")
    assert [trouble for trouble, _ in examine([tmp_path], "dump").troubles] == [f"Run 1: {note}"]


def test_a_damaged_feed_says_so(tmp_path: Path) -> None:
    added(tmp_path, call=CALL)
    (tmp_path / "_tfdbg_cli" / "feeds" / "0").write_bytes(b"junk")
    feeds = read_dump(tmp_path).call.feeds
    assert isinstance(feeds["x:0"], NoValue) and isinstance(feeds["y:0"], np.ndarray)
    run = replace(sample_run(), call=replace(CALL, feeds=feeds))
    assert fed_value(feeds, TensorName("x", 0)) is None
    assert "cut off after 4 bytes" in text_of("pf x:0", run)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    run = read_dump(small_dump(tmp_path / "dump"))
    (tmp_path / "file").touch()
    with pytest.raises(TfdbgError, match="Cannot write"):
        add_case_files(tmp_path / "file", run)


def test_the_opened_run_has_them_too(tmp_path: Path) -> None:
    added(tmp_path, tracebacks=TRACEBACKS)
    assert open_path(tmp_path).runs[0].tracebacks["x"] == TRACEBACKS["x"]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=60
)
@given(data=st.binary(max_size=100), which=st.integers(0, 5))
def test_random_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes, which: int) -> None:
    directory = tmp_path_factory.mktemp("case")
    run = sample_run()
    added(directory, call=CALL, tracebacks=TRACEBACKS, sources=run.sources, python_graph=run.graph)
    files = sorted(path for path in (directory / "_tfdbg_cli").rglob("*") if path.is_file())
    assert len(files) == 6
    files[which].write_bytes(data)
    again = read_dump(directory)
    assert len(again.tensors) == 4 and again.call.title
    dict(again.call.feeds)
    again.sources.lines("/home/ada/train.py")


def test_a_dump_of_tensorflow_that_is_completed_is_closed_to_others(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir(mode=0o755)
    added(run)
    assert run.stat().st_mode & 0o777 == 0o700
    for path in (run / "_tfdbg_cli").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_values_of_feeds_and_sources_that_are_missing_are_told(tmp_path: Path) -> None:
    added(tmp_path, call=CALL, tracebacks=TRACEBACKS, sources=SavedSources({"/home/ada/train.py": TRAIN_PY}))
    case = tmp_path / "_tfdbg_cli"
    (case / "feeds" / "0").unlink()
    next((case / "sources").iterdir()).unlink()
    assert list(read_dump(tmp_path).notes) == [
        "1 of 2 values of feeds is missing.",
        "1 of 1 source file is missing.",
    ]
    fields = json.loads((case / "case.json").read_text())
    for wrong in (
        {"call": 3},
        {"call": {"feeds": [3, None]}},
        {"sources": [1]},
        {"sources": {"a": "../../x", "b": 3}},
    ):
        (case / "case.json").write_text(json.dumps({**fields, **wrong}))
        read_dump(tmp_path)  # raises nothing


def test_files_of_tensors_that_are_damaged_are_told_when_a_dump_is_examined(tmp_path: Path) -> None:
    write_dump(sample_run(), tmp_path / "dump")
    assert not examine([tmp_path / "dump"], "dump").troubles
    first, second = (next((tmp_path / "dump").rglob(f"{name}_0_DebugIdentity*")) for name in ("big", "Log"))
    first.write_bytes(first.read_bytes()[:40])
    second.write_bytes(b"junk")
    ((trouble, advice),) = examine([tmp_path / "dump"], "dump").troubles
    assert trouble.startswith("Run 1: 2 of ") and "tensor files are damaged (first " in trouble
    assert advice == "What is not damaged is shown. Copy the dump again, or run the program again."
