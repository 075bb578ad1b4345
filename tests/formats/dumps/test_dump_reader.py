"""Reading whole dump directories made by hand."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dump_maker import CPU0, CPU1, T0, dump_core_metadata, dump_graph, dump_message, dump_tensor, small_dump

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps import listing
from tfdbg_cli.formats.dumps.device_names import directory_of
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue


def names(run: Run) -> list[str]:
    return [str(run.tensors[index].name) for index in range(len(run.tensors))]


def test_a_small_dump(tmp_path: Path) -> None:
    run = read_dump(small_dump(tmp_path))
    assert run.notes == ()
    assert names(run) == ["x:0", "double:0", "seen:0", "total:0"]
    tensor = run.tensors[1]
    assert (tensor.op_type, tensor.device, tensor.dtype, tensor.shape, tensor.nbytes, tensor.time_us) == (
        "Mul", CPU0, "float32", (2,), 8, T0 + 20,
    )  # fmt: skip
    value = run.tensors.value(1)
    assert isinstance(value, np.ndarray) and value.tolist() == [2, 4]
    assert run.graph.devices() == [CPU0, CPU1]
    assert run.origin_path == str(tmp_path)


def test_first_is_first_in_time_over_all_devices(tmp_path: Path) -> None:
    """Defect of TensorFlow's debugger: with several devices "first" was the first of the first device."""
    run = read_dump(small_dump(tmp_path))
    assert [run.tensors[index].device for index in range(4)] == [CPU0, CPU0, CPU1, CPU0]


def test_the_same_name_on_two_devices(tmp_path: Path) -> None:
    """Defect of TensorFlow's debugger: find(device_name=…) failed; here the device is a part of every tensor."""
    for device, value, op in ((CPU0, 1.0, "Neg"), (CPU1, 2.0, "Abs")):
        dump_graph(tmp_path, [("n", op, [])], device)
        dump_tensor(tmp_path, "n", 5 if device == CPU1 else 9, value, device=device)
        dump_tensor(tmp_path, "n", 20, value + 10, device=device)
    run = read_dump(tmp_path)
    found = {
        (run.tensors[i].device, run.tensors[i].execution): (run.tensors[i].op_type, float(run.tensors.value(i)))  # type: ignore[arg-type]
        for i in run.tensors.named("n", 0)
    }
    assert found == {
        (CPU0, 0): ("Neg", 1.0), (CPU0, 1): ("Neg", 11.0), (CPU1, 0): ("Abs", 2.0), (CPU1, 1): ("Abs", 12.0),
    }  # fmt: skip
    assert [node.op_type for node in run.graph if node.device == CPU1] == ["Abs"]


def test_executions_count_in_order_of_time(tmp_path: Path) -> None:
    for time_us, value in ((900, 2.0), (1000, 3.0), (90, 0.0), (100, 1.0)):
        dump_tensor(tmp_path, "loop/Add", time_us, value)
    dump_tensor(tmp_path, "loop/Add", 1000, 4.0, repeat=1)
    run = read_dump(tmp_path)
    found = [(run.tensors[i].execution, float(run.tensors.value(i))) for i in run.tensors.named("loop/Add")]  # type: ignore[arg-type]
    assert found == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]


def test_repeats_are_counted_as_numbers(tmp_path: Path) -> None:
    for repeat in (0, 2, 10, 1, 9):
        dump_tensor(tmp_path, "a", 7, float(repeat), repeat=repeat)
    run = read_dump(tmp_path)
    assert [float(run.tensors.value(i)) for i in range(5)] == [0, 1, 2, 9, 10]  # type: ignore[arg-type]


def test_within_a_microsecond_inputs_come_before_what_reads_them(tmp_path: Path) -> None:
    dump_graph(tmp_path, [("a", "Neg", ["b"]), ("b", "Neg", ["c:1"]), ("c", "Split", [])])
    for name in ("a", "b", "c:0", "c:1"):
        dump_tensor(tmp_path, name, 5)
    dump_tensor(tmp_path, "z", 4)
    assert names(read_dump(tmp_path)) == ["z:0", "c:0", "c:1", "b:0", "a:0"]


def test_a_circle_within_a_microsecond(tmp_path: Path) -> None:
    dump_graph(tmp_path, [("a", "Merge", ["b"]), ("b", "NextIteration", ["a"])])
    for name in ("a", "b"):
        dump_tensor(tmp_path, name, 5)
    assert sorted(names(read_dump(tmp_path))) == ["a:0", "b:0"]


def test_slots_and_scopes(tmp_path: Path) -> None:
    for name in ("scope/my_op_1:0", "scope/my_op_1:12", "scope/my_op:1", "my_op"):
        dump_tensor(tmp_path, name, 5)
    run = read_dump(tmp_path)
    assert sorted(names(run)) == ["my_op:0", "scope/my_op:1", "scope/my_op_1:0", "scope/my_op_1:12"]
    assert [run.tensors[i].slot for i in run.tensors.named("scope/my_op_1", 12)] == [12]
    assert sorted(run.tensors.nodes()) == ["my_op", "scope/my_op", "scope/my_op_1"]


def test_summaries_by_other_debug_ops_have_names_of_their_own(tmp_path: Path) -> None:
    dump_graph(tmp_path, [("a", "Log", [])])
    dump_tensor(tmp_path, "a:1", 5, [1.0, 2.0])
    dump_tensor(tmp_path, "a:1", 6, np.arange(14.0), op="DebugNumericSummary")
    run = read_dump(tmp_path)
    assert names(run) == ["a:1", "a_1_DebugNumericSummary:0"]
    assert run.tensors[1].op_type == "DebugNumericSummary"
    assert run.graph.node("a_1_DebugNumericSummary").inputs == (TensorName("a", 1),)
    assert run.tensors[1].execution == 0
    assert run.notes == ()


def test_a_dump_of_summaries_alone(tmp_path: Path) -> None:
    dump_tensor(tmp_path, "a", 6, np.int64(3), op="DebugNanCount")
    run = read_dump(tmp_path)
    assert names(run) == ["a_0_DebugNanCount:0"] and run.tensors.named("a") == []


def test_a_missing_graph_is_said(tmp_path: Path) -> None:
    dump_tensor(tmp_path, "a", 5)
    run = read_dump(tmp_path)
    assert run.tensors[0].op_type == ""
    assert any("graph of this run was not saved" in note for note in run.notes)
    dump_graph(tmp_path, [("b", "Neg", [])], CPU1)
    assert any(CPU0 in note for note in read_dump(tmp_path).notes)


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"\x22\x03\xff\xff\xff"])
def test_a_damaged_graph_costs_the_graph(tmp_path: Path, content: bytes) -> None:
    small_dump(tmp_path)
    graph = dump_graph(tmp_path, [])
    graph.write_bytes(content)
    run = read_dump(tmp_path)
    assert len(run.tensors) == 4
    assert list(run.graph.names()) == ["seen"]
    assert run.notes


@pytest.mark.parametrize(("empty", "told"), [(range(3, 6), "3 of 6"), ([0, *range(3, 6)], "4 of 6")])
def test_of_very_many_files_the_last_ones_tell_that_the_disk_was_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: Iterable[int], told: str
) -> None:
    monkeypatch.setattr(listing, "_MOST_ASKED", 2)
    files = [dump_tensor(tmp_path, f"op_{number}", number, [1.0]) for number in range(6)]
    assert not any("empty" in note for note in read_dump(tmp_path).notes)
    for number in empty:
        files[number].write_bytes(b"")
    assert any(f"{told} tensor files are empty" in note for note in read_dump(tmp_path).notes)


def test_damaged_tensors_cost_themselves(tmp_path: Path) -> None:
    small_dump(tmp_path)
    dump_tensor(tmp_path, "total", 30).write_bytes(b"")
    run = read_dump(tmp_path)
    assert any("1 of 4 tensor files is empty (first total:0)" in note for note in run.notes)
    lacks = [value.lack for value in map(run.tensors.value, range(4)) if isinstance(value, NoValue)]
    assert lacks == [Lack.DAMAGED]
    assert run.tensors[3].shape is None


def test_files_that_are_no_dumps_are_said_and_left_out(tmp_path: Path) -> None:
    small_dump(tmp_path)
    (tmp_path / directory_of(CPU0) / "README").write_text("hello")
    (tmp_path / directory_of(CPU0) / "scope").mkdir()
    (tmp_path / directory_of(CPU0) / "scope" / "x_y_DebugIdentity_12").touch()
    (tmp_path / "notes.txt").write_text("beside the devices nobody cares")
    run = read_dump(tmp_path)
    assert len(run.tensors) == 4
    assert [note for note in run.notes if "2 files that are no tensor dumps were left out" in note]


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    run_directory = small_dump(tmp_path / "run")
    secret = tmp_path / "secret"
    secret.mkdir()
    stolen = dump_tensor(secret, "stolen", 40)
    device = run_directory / directory_of(CPU0)
    (device / stolen.name).symlink_to(stolen)
    (device / "scope").symlink_to(secret)
    (run_directory / directory_of("/gpu:0")).symlink_to(secret / directory_of(CPU0))
    (run_directory / "_tfdbg_fetches_info_").symlink_to(stolen)
    run = read_dump(run_directory)
    assert "stolen:0" not in names(run) and len(run.tensors) == 4
    assert any("links that lead out" in note for note in run.notes)


def test_a_link_inside_the_dump_is_a_file(tmp_path: Path) -> None:
    path = dump_tensor(small_dump(tmp_path), "x", 10)
    path.with_name(path.name.replace("x_0", "again_0")).symlink_to(path)
    assert "again:0" in names(read_dump(tmp_path))


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    small_dump(tmp_path)
    os.mkfifo(tmp_path / directory_of(CPU0) / f"pipe_0_DebugIdentity_{T0}")
    run = read_dump(tmp_path)
    assert "pipe:0" not in names(run)
    assert f"1 file that is no regular file was left out ('pipe_0_DebugIdentity_{T0}')." in run.notes


def test_names_with_control_characters_and_wrong_encoding_are_data(tmp_path: Path) -> None:
    device = tmp_path / directory_of(CPU0)
    device.mkdir()
    good = dump_tensor(tmp_path, "x", 1).read_bytes()
    for name in (b"a\x1b[2Jb", b"new\nline", b"\xff\xfe", "größe".encode(), b"con", b"a>b"):
        (device / os.fsdecode(name + b"_0_DebugIdentity_%d" % T0)).write_bytes(good)
    run = read_dump(tmp_path)
    found = {tensor.node for tensor in map(run.tensors.__getitem__, range(len(run.tensors)))}
    assert found == {"x", "a\x1b[2Jb", "new\nline", "\\xff\\xfe", "größe", "con", "a>b"}
    assert all(isinstance(run.tensors.value(index), np.ndarray) for index in range(len(run.tensors)))
    for name in found:
        name.encode()


def test_double_slashes_of_node_names_come_from_the_graph(tmp_path: Path) -> None:
    dump_graph(tmp_path, [("a//b", "Neg", [])])
    dump_tensor(tmp_path, "a/b", 5)
    run = read_dump(tmp_path)
    assert names(run) == ["a//b:0"] and run.tensors[0].op_type == "Neg" and run.notes == ()


def test_the_call_from_the_metadata_in_the_order_of_the_program(tmp_path: Path) -> None:
    small_dump(tmp_path)
    text = (
        "{'loss': <tf.Tensor 'b:0' shape=() dtype=float32>,"
        " 'n': [<tf.Operation 'train' type=NoOp>, <tf.Tensor 'a:0' shape=()>]}"
    )
    dump_message(tmp_path, "_tfdbg_fetches_info_", text)
    dump_message(
        tmp_path, "_tfdbg_feed_keys_info_", "dict_keys([<tf.Tensor 'y:0' shape=(None, 3) dtype=float32>, 'x:0'])"
    )
    call = read_dump(tmp_path).call
    assert (call.fetches, call.targets, dict(call.feeds)) == (("b:0", "a:0"), ("train",), {"y:0": None, "x:0": None})
    assert call.number == 5


def test_the_call_without_core_metadata(tmp_path: Path) -> None:
    run_directory = tmp_path / "run_1700000000000000_6"
    dump_message(run_directory, "_tfdbg_fetches_info_", "<tf.Tensor 'b:0' shape=() dtype=float32>")
    dump_message(run_directory, "_tfdbg_feed_keys_info_", "None")
    call = read_dump(run_directory).call
    assert (call.number, call.fetches, dict(call.feeds)) == (7, ("b:0",), {})


@pytest.mark.parametrize(
    "message", ["", "not json", "[1]", '{"session_run_index": "x"}', '{"input_names": 3}', "[" * 5000]
)
def test_damaged_metadata_is_said(tmp_path: Path, message: str) -> None:
    small_dump(tmp_path)
    name = f"_tfdbg_core_metadata_sessionrun00000000000004_{T0}"
    dump_message(tmp_path, name, message)
    run = read_dump(tmp_path)
    assert len(run.tensors) == 4
    assert any(name in note for note in run.notes)


def test_several_runs_in_one_folder(tmp_path: Path) -> None:
    small_dump(tmp_path)
    core = dump_core_metadata(tmp_path, session_run_index=9, output_names=["later:0"])
    core.rename(core.with_name("_tfdbg_core_metadata_sessionrun00000000000009_1700000000000001"))
    dump_core_metadata(tmp_path)
    run = read_dump(tmp_path)
    assert run.call.fetches == ("later:0",) and run.call.number == 10
    assert any("2 runs wrote into this folder" in note for note in run.notes)


def test_nodes_that_the_graph_lacks_are_said(tmp_path: Path) -> None:
    """TensorFlow's reader refuses the whole dump: "Node name … is not found in partition graphs"."""
    small_dump(tmp_path)
    dump_tensor(tmp_path, "stranger", 50)
    run = read_dump(tmp_path)
    assert "stranger:0" in names(run)
    assert any("'stranger'" in note for note in run.notes)


def test_times_that_contradict_the_graph_are_said(tmp_path: Path) -> None:
    """TensorFlow's reader refuses the whole dump: "Causality violated in timing relations"."""
    small_dump(tmp_path)
    dump_tensor(tmp_path, "total", 5)
    run = read_dump(tmp_path)
    assert any("'total'" in note and "'double:0'" in note for note in run.notes)


def test_loops_do_not_contradict_the_graph(tmp_path: Path) -> None:
    dump_graph(
        tmp_path,
        [
            ("enter", "Enter", []),
            ("merge", "Merge", ["enter", "next"]),
            ("add", "AddV2", ["merge"]),
            ("next", "NextIteration", ["add"]),
        ],
    )
    for time_us, name in enumerate(("enter", "merge", "add", "next", "merge", "add", "next", "merge")):
        dump_tensor(tmp_path, name, time_us)
    assert read_dump(tmp_path).notes == ()


def test_a_dump_without_tensors_says_why(tmp_path: Path) -> None:
    dump_core_metadata(tmp_path)
    dump_graph(tmp_path, [("x", "Const", [])])
    run = read_dump(tmp_path)
    assert len(run.tensors) == 0 and any("no tensors" in note for note in run.notes)
    with pytest.raises(IndexError):
        run.tensors[0]


def test_a_dump_that_went_away_after_opening(tmp_path: Path) -> None:
    small_dump(tmp_path)
    run = read_dump(tmp_path)
    for path in (tmp_path / directory_of(CPU0)).iterdir():
        path.unlink()
    value = run.tensors.value(0)
    assert isinstance(value, NoValue) and value.lack is Lack.GONE
    assert run.tensors[0].shape is None


def test_no_header_is_read_before_somebody_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_dump(tmp_path)
    looked: list[str] = []
    monkeypatch.setattr("tfdbg_cli.formats.dumps.store.tensor_facts", lambda path, size: looked.append(path))
    run = read_dump(tmp_path)
    assert len(run.tensors) == 4 and list(run.tensors.named("x")) == [0] and len(run.tensors.nodes()) == 4
    assert looked == []


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match="Cannot read the folder"):
        read_dump(tmp_path / "none")


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=60
)
@given(data=st.binary(max_size=200), which=st.integers(0, 6))
def test_random_bytes_in_any_file_never_raise(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, which: int
) -> None:
    directory = small_dump(tmp_path_factory.mktemp("dump"))
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    files[which].write_bytes(data)
    run = read_dump(directory)
    for index in range(len(run.tensors)):
        run.tensors[index]
        run.tensors.value(index)
    for node in run.graph:
        dict(node.attributes)
    assert run.call.title
