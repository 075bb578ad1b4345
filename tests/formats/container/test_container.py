"""A recording gives back what was written into it: every element type, graphs, tracebacks, sources, feeds, errors."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_run import NAN, made_run, op
from support.prompt import Prompt
from support.run_maker import RunMaker
from support.sample_run import CPU0, CPU1, TRACEBACKS, VALUES, sample_run
from support.saved_sources import SavedSources
from support.small_reader import SmallReader

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.layout import Encoding
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import CallArgument, RunError, RunKind
from tfdbg_cli.model.dtypes import element_type_named, element_type_names
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe, summary_of
from tfdbg_cli.model.values import Array, Lack, NoValue, Value
from tfdbg_cli.model.variables import ToldVariables

_SHAPES = ((), (0,), (1,), (7,), (2, 3), (3, 0, 2), (2, 1, 2, 2))


def recorded(path: Path, *runs: Run, **options: object) -> Opened:
    writer = RecordingWriter(path, **options)  # type: ignore[arg-type]
    for run in runs:
        writer.write(run)
    writer.close()
    return open_path(path)


def described(run: Run) -> list[Tensor]:
    return [run.tensors[place] for place in range(len(run.tensors))]


def bits(value: Value) -> object:
    """What a value is, NaN by their bits."""
    if isinstance(value, NoValue):
        return value
    if value.dtype.hasobject:
        return value.shape, value.tolist()
    return value.shape, value.dtype.name, value.tobytes()


def values(run: Run) -> list[object]:
    return [bits(run.tensors.value(place)) for place in range(len(run.tensors))]


def run_of(*named: tuple[str, Value, str]) -> Run:
    rows = [
        describe(TensorName(name, 0), value, device=CPU0, op_type="Const", dtype=dtype)
        for name, value, dtype in named
    ]
    return sample_run(tensors=MemoryTensorStore(rows, [value for _, value, _ in named]))


def whole_run() -> Run:
    arguments = (CallArgument("x", "float32", (None, 3)), CallArgument("w", "float32", None, captured=True))
    run = sample_run()
    return replace(
        run,
        call=replace(run.call, function="step", arguments=arguments, notes=("a note",), thread="MainThread"),
        profile=Profile((NodeTime("loss/Log", "Log", "", 0.0, 1.0, 2.0), NodeTime("x", "Placeholder", "", 1, 1, 2))),
        python_graph=replace(run, graph=run.graph).graph,
        error=RunError("InvalidArgumentError", "a message", "loss/Log", "no inputs", ("KeyError at train.py:5",)),
        notes=("another note",),
        lacks="why",
        gaps="which",
        cut_off=True,
    )


@pytest.mark.parametrize(("fed", "twice"), [([1.0, NAN], False), ([1.0, 2.0], True), ([[1.0, NAN]], True)])
def test_what_was_fed_and_is_shown_by_a_tensor_is_written_once(tmp_path: Path, fed: object, twice: bool) -> None:
    """A blind test: a recording took 1.04 times the bytes of its tensors, as it had each batch twice."""
    shown, given = np.array([1.0, NAN], np.float32), np.array(fed, np.float32)
    run = made_run(op("x", "Placeholder", value=shown), op("y", "Neg", "x", value=-shown), feeds={"x:0": given})
    opened = recorded(tmp_path / "r", run)
    names = (tmp_path / "r" / "data" / "000001.safetensors").read_bytes()
    assert (b"run 1/fed/0/x:0" in names) is twice
    assert bits(np.asarray(opened.runs[0].call.feeds["x:0"])) == bits(given)
    assert values(opened.runs[0]) == [bits(shown), bits(-shown)]


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    run = whole_run()
    opened = recorded(tmp_path / "r", run, run)
    assert len(opened.runs) == 2 and opened.notes == ()
    for again in opened.runs:
        assert described(again) == described(run)
        assert values(again) == values(run)
        assert list(again.graph) == list(run.graph) and again.graph.kind is run.graph.kind
        assert again.python_graph is not None and len(again.python_graph) == len(run.graph)
        assert dict(again.tracebacks) == TRACEBACKS
        assert again.sources.lines("/home/ada/train.py") == run.sources.lines("/home/ada/train.py")
        assert again.sources.lines("/etc/passwd") is None
        assert replace(again.call, feeds={}) == replace(run.call, feeds={})
        assert {name: np.asarray(value).tolist() for name, value in again.call.feeds.items()} == {
            name: np.asarray(value).tolist() for name, value in run.call.feeds.items()
        }
        assert (again.error, again.profile, again.notes) == (run.error, run.profile, run.notes)
        assert (again.lacks, again.gaps, again.cut_off) == ("why", "which", True)


def test_who_is_asked_for_a_node_answers(tmp_path: Path) -> None:
    store = recorded(tmp_path / "r", sample_run()).runs[0].tensors
    plain = sample_run().tensors
    assert list(store.nodes()) == list(plain.nodes())
    assert [list(store.named(name)) for name in store.nodes()] == [list(plain.named(name)) for name in plain.nodes()]
    assert list(store.named("grad/unique", 1)) == list(plain.named("grad/unique", 1))
    assert list(store.named("nobody")) == []
    assert {tensor.device for tensor in (store[0], store[16])} == {CPU0, CPU1}
    assert store[-1] == plain[len(plain) - 1]


def _array(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    element = element_type_named(dtype)
    assert element is not None and element.numpy is not None
    rng = np.random.default_rng(seed)
    if dtype == "string":
        words = [rng.bytes(int(rng.integers(0, 9))) for _ in range(int(np.prod(shape)))]
        found = np.empty(len(words), object)
        found[:] = words
        return found.reshape(shape)
    count = int(np.prod(shape))
    raw = rng.integers(0, 256, count * element.numpy.itemsize, np.uint8)
    if dtype == "bool":
        raw &= 1
    elif dtype in {"int4", "uint4", "int2", "uint2", "float4_e2m1fn"}:
        raw &= 1  # bits beside the element mean nothing
    return raw.view(element.numpy).reshape(shape)


_DTYPES = [name for name in element_type_names() if element_type_named(name).numpy is not None]  # type: ignore[union-attr]


@pytest.mark.parametrize("compressed", [False, True])
@given(st.lists(st.tuples(st.sampled_from(_DTYPES), st.sampled_from(_SHAPES), st.integers(0, 99)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_every_element_type_comes_back_bit_by_bit(
    tmp_path_factory: pytest.TempPathFactory, compressed: bool, asked: list[tuple[str, tuple[int, ...], int]]
) -> None:
    arrays = [(f"n{i}", _array(*one), one[0]) for i, one in enumerate(asked)]
    run = run_of(*arrays)
    again = recorded(tmp_path_factory.mktemp("p") / "r", run, compressed=compressed).runs[0]
    assert values(again) == values(run)
    assert [tensor.dtype for tensor in described(again)] == [dtype for _, _, dtype in arrays]


def test_all_element_types_are_tried() -> None:
    assert {"bfloat16", "float8_e4m3fn", "float8_e5m2fnuz", "int4", "qint32", "string", "complex128"} <= set(_DTYPES)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((3, 4))[:, ::2], np.arange(5, dtype=">i8"), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array("x"), np.array(["Käse", "\udc80"], object), np.broadcast_to(np.float32(2), (3, 3)),
        np.zeros((2,), ml_dtypes.bfloat16)[::-1],
    ],
)  # fmt: skip
def test_arrays_of_every_layout(tmp_path: Path, array: Array) -> None:
    value = recorded(tmp_path / "r", run_of(("a", array, ""))).runs[0].tensors.value(0)
    assert isinstance(value, np.ndarray) and value.shape == array.shape
    if array.dtype.kind in "OU":
        assert (
            value.tolist()
            == np.vectorize(lambda s: s.encode("utf-8", "surrogateescape"), otypes=[object])(array).tolist()
        )
    else:
        assert value.tolist() == array.tolist()


def test_why_there_is_no_value_comes_back(tmp_path: Path) -> None:
    run = sample_run()
    again = recorded(tmp_path / "r", run).runs[0]
    lacks = [value for _, _, _, _, _, value in VALUES if isinstance(value, NoValue)]
    assert (
        lacks and [v for v in (again.tensors.value(i) for i in range(len(VALUES))) if isinstance(v, NoValue)] == lacks
    )


def test_a_value_that_nothing_can_hold_is_said(tmp_path: Path) -> None:
    odd = np.array([object()], object)
    writer = RecordingWriter(tmp_path / "r")
    written = writer.write(run_of(("odd", odd, "string"), ("ok", np.ones(2), "float64")))
    writer.close()
    assert written.notes == ("The value of 1 tensor was not recorded: TensorFlow has no type for it ('odd:0').",)
    store = open_path(tmp_path / "r").runs[0].tensors
    assert isinstance(store.value(0), NoValue) and store.value(0).lack is Lack.GONE  # type: ignore[union-attr]
    assert np.asarray(store.value(1)).tolist() == [1, 1]


def test_the_size_of_texts_is_told_where_they_are_recorded(tmp_path: Path) -> None:
    run = run_of(("words", np.array([b"abc", b"de"], object), "string"))
    unread = replace(run.tensors[0], nbytes=None)
    store = MemoryTensorStore([unread], [run.tensors.value(0)])
    again = recorded(tmp_path / "r", replace(run, tensors=store)).runs[0]
    assert again.tensors[0].nbytes == 5


@pytest.mark.parametrize("seed", range(8))
def test_random_runs_come_back(tmp_path: Path, seed: int) -> None:
    run = RunMaker(seed).run()
    again = recorded(tmp_path / "r", run).runs[0]
    assert described(again) == [replace(tensor, dtype=_plain(tensor)) for tensor in described(run)]
    assert values(again) == values(run)
    assert {node.name: node.op_type for node in again.graph} == {node.name: node.op_type for node in run.graph}


def _plain(tensor: Tensor) -> str:
    return "string" if tensor.dtype == "object" else tensor.dtype


def test_names_are_never_paths_and_come_back_whatever_they_hold(tmp_path: Path) -> None:
    names = ["../../out", "/etc/passwd", "a\x1b[2J", "nul\0", "\udc80", "x" * 3000, "é", 'quo"te', "a/./b"]
    run = run_of(*((name, np.ones(1, np.float32), "float32") for name in names))
    again = recorded(tmp_path / "deep" / "r", run).runs[0]
    assert [tensor.node for tensor in described(again)] == names
    assert values(again) == values(run)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "000001.safetensors", "index.sqlite", "recording.json",
    ]  # fmt: skip


def test_two_tensors_of_one_name_both_come_back(tmp_path: Path) -> None:
    run = run_of(("a", np.ones(1, np.float32), "float32"), ("a", np.zeros(1, np.float32), "float32"))
    assert values(recorded(tmp_path / "r", run).runs[0]) == values(run)


def test_what_runs_share_is_written_once(tmp_path: Path) -> None:
    run = sample_run()
    recorded(tmp_path / "r", *[run] * 5, sample_run())
    index = sqlite3.connect(tmp_path / "r" / "index.sqlite")
    assert index.execute("SELECT count(*) FROM contents").fetchone()[0] == 4  # graph, tracebacks, source, program
    assert index.execute("SELECT count(DISTINCT program) FROM runs").fetchone()[0] == 1
    assert index.execute("SELECT count(*) FROM files").fetchone()[0] <= 3


def test_the_bytes_on_disk_are_those_of_the_tensors(tmp_path: Path) -> None:
    arrays = [(f"n{number}", np.zeros((500, 500), np.float32), "float32") for number in range(8)]
    recorded(tmp_path / "r", *[run_of(*arrays)] * 3)
    written = sum(path.stat().st_size for path in (tmp_path / "r").rglob("*") if path.is_file())
    assert written <= 1.02 * 3 * sum(array.nbytes for _, array, _ in arrays)


class _SharedMemory(MemoryTensorStore):
    """Tensors of which some lie in the same memory."""

    def memory(self, index: int) -> int | None:
        value = self.value(index)
        return None if isinstance(value, NoValue) else int(value.ctypes.data)


@pytest.mark.parametrize("compressed", [False, True])
def test_what_lies_in_the_same_memory_is_written_once(tmp_path: Path, compressed: bool) -> None:
    row = np.arange(30_000, dtype=np.float32)
    named = [("a", row), ("b", row.reshape(300, 100)), ("c", row[:100]), ("d", row.view(np.int32)), ("e", row.copy())]
    tensors = [
        describe(TensorName(name, 0), array, device=CPU0, op_type="Reshape", dtype=array.dtype.name)
        for name, array in named
    ]
    run = replace(run_of(), tensors=_SharedMemory(tensors, [array for _, array in named]))
    opened = recorded(tmp_path / "r", run, run, compressed=compressed)
    for found in opened.runs:
        assert values(found) == values(run) and described(found) == described(run)
    index = sqlite3.connect(tmp_path / "r" / "index.sqlite")
    rows = index.execute("SELECT run, offset, stored FROM tensors ORDER BY run, place").fetchall()
    assert rows[0] == rows[1] == rows[3] and len(set(rows)) == 6  # of each run three, the elements of a, c and e
    read = SmallReader(tmp_path / "r")
    assert [np.asarray(value).tobytes() for _, _, value in read.tensors(1)] == [array.tobytes() for _, array in named]


def test_compressed_elements_take_less(tmp_path: Path) -> None:
    run = run_of(("zeros", np.zeros((500, 500), np.float32), "float32"), ("one", np.ones(1, np.float32), "float32"))
    opened = recorded(tmp_path / "r", run, compressed=True)
    assert values(opened.runs[0]) == values(run)
    assert sum(path.stat().st_size for path in (tmp_path / "r" / "data").iterdir()) < 20_000
    index = sqlite3.connect(tmp_path / "r" / "index.sqlite")
    codes = index.execute("SELECT encoding FROM tensors ORDER BY place").fetchall()
    assert codes == [(Encoding.ZLIB_PLAIN,), (Encoding.PLAIN,)]  # what does not get smaller stays as it is


def test_statistics_of_all_and_values_of_some(tmp_path: Path) -> None:
    run = sample_run()
    opened = recorded(tmp_path / "r", run, selection=lambda _: lambda tensor: tensor.node.startswith("loss"))
    store = opened.runs[0].tensors
    kept = [str(store[i].name) for i in range(len(store)) if not isinstance(store.value(i), NoValue)]
    assert kept == ["loss/Log:0", "loss/mul:0", "loss/Mean:0"]
    prompt, whole = Prompt(opened), Prompt(Opened("", [run]))
    rows, expected = prompt.data("lt --stats")["tensors"], whole.data("lt --stats")["tensors"]
    assert [row["name"] for row in rows] == [row["name"] for row in expected]
    told = [(row["summary"], other["summary"]) for row, other in zip(rows, expected, strict=True)]
    assert all(one == other for one, other in told if other is not None and other["min"] is not None)
    assert "statistics were recorded" in prompt.show("pt prob:0")


def test_a_folder_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "file").touch()
    with pytest.raises(TfdbgError, match="There is something at"):
        RecordingWriter(tmp_path / "r")


def test_what_is_written_is_closed_to_others(tmp_path: Path) -> None:
    recorded(tmp_path / "r", sample_run())
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "r").rglob("*")}
    assert modes.pop("data") == 0o700 and set(modes.values()) == {0o600}
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o700


def test_a_recording_can_be_opened_while_it_is_written(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(sample_run())
    assert len(open_path(tmp_path / "r").runs) == 1
    writer.write(sample_run())
    assert len(open_path(tmp_path / "r").runs) == 2
    writer.close()


def test_a_recording_without_runs_says_so(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match=r"No run of the recording .* was finished") as over:
        recorded(tmp_path / "r")
    assert over.value.hint.startswith("The program has ended: record it again, until a run has ended;")
    assert "a full disk, or a --budget smaller than one run, keeps none: make room," in over.value.hint
    writer = RecordingWriter(tmp_path / "s")
    with pytest.raises(TfdbgError, match="was finished") as under_way:
        open_path(tmp_path / "s")
    assert under_way.value.hint.startswith("Let the program go on until a run has ended;")
    writer.close()


def test_a_part_of_a_recording_leads_to_it(tmp_path: Path) -> None:
    recorded(tmp_path / "r", sample_run())
    for part in ("index.sqlite", "recording.json", "data", "data/000001.safetensors"):
        with pytest.raises(TfdbgError) as caught:
            open_path(tmp_path / "r" / part)
        assert caught.value.hint == f"Open {tmp_path / 'r'}.", part


def test_other_tools_read_the_data_files(tmp_path: Path) -> None:
    recorded(tmp_path / "r", *[sample_run()] * 3)
    files = list((tmp_path / "r" / "data").iterdir())
    assert files
    for path in files:
        content = path.read_bytes()
        room = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + room])
        assert list(header.pop("__metadata__")) == ["recording"]
        ends = sorted(entry["data_offsets"] for entry in header.values())
        assert ends[0][0] == 0 and ends[-1][1] == len(content) - 8 - room
        assert all(one[1] == other[0] for one, other in pairwise(ends))  # no holes
        entry = next(entry for name, entry in header.items() if name.endswith("/loss/Mean:0"))
        assert entry["dtype"] == "F32" and entry["shape"] == []


def test_a_graph_of_several_devices_comes_back(tmp_path: Path) -> None:
    run = recorded(tmp_path / "one", sample_run(python_graph=None)).runs[0]
    again = recorded(tmp_path / "two", run).runs[0]
    assert list(again.graph) == list(run.graph)
    assert again.graph.kind is GraphKind.RUNTIME and again.call.kind is RunKind.SESSION


@pytest.mark.parametrize("where", ["manifest", "index"])
def test_a_recording_of_a_newer_version_is_refused(tmp_path: Path, where: str) -> None:
    writer = RecordingWriter(tmp_path / "case")
    writer.write(sample_run())
    writer.close()
    if where == "index":
        with closing(sqlite3.connect(tmp_path / "case" / layout.INDEX)) as index:
            index.execute("PRAGMA user_version = 9")
    else:
        manifest = tmp_path / "case" / layout.MANIFEST
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 9}))
    with pytest.raises(TfdbgError, match=r"written by a newer tfdbg \(format 9\)") as caught:
        open_path(tmp_path / "case")
    assert caught.value.exit_code == 2


def test_a_budget_that_what_all_runs_share_exceeds_is_kept(tmp_path: Path) -> None:
    """The first run was thought to take its values alone; with its sources it took four times the budget."""
    text = "\n".join(os.urandom(40).hex() for _ in range(4000))
    run = replace(sample_run(), sources=SavedSources({"/home/ada/train.py": text}))
    writer = RecordingWriter(tmp_path / "case", budget=150_000)
    with pytest.raises(TfdbgError, match="for what all runs share, such as graphs; together that is more than"):
        writer.write(run)
    writer.write(sample_run())
    writer.close()
    opened = open_path(tmp_path / "case")
    assert len(opened.runs) == 1
    assert sum(file.stat().st_size for file in (tmp_path / "case").rglob("*") if file.is_file()) < 200_000


def test_damage_to_what_is_told_of_variables_costs_that(tmp_path: Path) -> None:
    run = replace(sample_run(), variables=ToldVariables({"dense/kernel": True}))
    recorded(tmp_path / "case", run)
    with closing(sqlite3.connect(tmp_path / "case" / layout.INDEX)) as index:
        (description,) = index.execute("SELECT description FROM runs").fetchone()
        fields = json.loads(description)
        index.execute("UPDATE runs SET description = ?", (json.dumps(fields | {"variables": 12_345}),))
        index.commit()
    read = open_path(tmp_path / "case").runs[0]
    assert read.variables is None
    assert "Which variables of this run are trained is damaged" in " ".join(read.lost)


def test_statistics_alone_of_integers_that_no_column_holds(tmp_path: Path) -> None:
    run = made_run(op("x", "Placeholder", value=np.array([1, 2**64 - 1], np.uint64)))
    writer = RecordingWriter(tmp_path / "r", selection=lambda run: lambda tensor: False)
    writer.write(run)
    writer.close()
    summary = summary_of(open_path(tmp_path / "r").runs[0].tensors, 0)
    assert summary is not None and (summary.min, summary.max) == (1.0, 2.0**64)
