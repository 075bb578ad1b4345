from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.sample_run import CPU0, NODES, T0, TRACEBACKS, VALUES, sample_run

from tfdbg_cli.debug_data.dump_dir import DebugDumpDir
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps import writer as dump_writer
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe, gone
from tfdbg_cli.model.values import Array, Lack, NoValue, Value


def possible_run(**changes: object) -> Run:
    """The sample run with a graph that TensorFlow could have made (no node reads itself)."""
    nodes = [node._replace(inputs=()) if node.name == "step/while/Add" else node for node in NODES]
    return sample_run(**({"graph": Graph(nodes)} | changes))


def run_of(*named: tuple[str, Value], device: str = CPU0, dtype: str = "float32") -> Run:
    tensors = [
        describe(TensorName(name, 0), value, device=device, op_type="Const", dtype=dtype) for name, value in named
    ]
    graph = Graph([Node(name, "Const", device) for name, _ in named], GraphKind.PYTHON)
    return sample_run(tensors=MemoryTensorStore(tensors, [value for _, value in named]), graph=graph)


def described(run: Run) -> list[Tensor]:
    return [run.tensors[index] for index in range(len(run.tensors))]


def same(first: Value, second: Value) -> bool:
    if isinstance(first, NoValue) or isinstance(second, NoValue):
        return isinstance(first, NoValue) and isinstance(second, NoValue) and first.lack is second.lack
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and first.tolist().__repr__() == second.tolist().__repr__()
    )


def test_a_written_run_is_read_as_it_was(tmp_path: Path) -> None:
    run = possible_run()
    assert write_dump(run, tmp_path / "dump") == ()
    again = read_dump(tmp_path / "dump")
    assert again.notes == ()
    assert described(again) == described(run)
    assert all(same(again.tensors.value(index), run.tensors.value(index)) for index in range(len(VALUES)))
    assert dict(again.tracebacks) == TRACEBACKS
    assert {(node.name, node.device, node.op_type) for node in again.graph} == {
        (node.name, node.device, node.op_type) for node in run.graph
    }
    assert again.call.title == run.call.title


def test_without_times_the_order_is_kept_and_no_times_are_made_up(tmp_path: Path) -> None:
    order = [f"n{number}" for number in (5, 3, 9, 1)]
    write_dump(run_of(*((name, np.ones(2, np.float32)) for name in order)), tmp_path / "dump")
    again = read_dump(tmp_path / "dump")
    assert [tensor.node for tensor in described(again)] == order
    assert {tensor.time_us for tensor in described(again)} == {None}


def test_the_program_graph_stays_the_program_graph(tmp_path: Path) -> None:
    run = run_of(("a", np.ones(2, np.float32)))
    write_dump(
        replace(run, graph=Graph([*run.graph, Node("unused", "Neg", "")], GraphKind.PYTHON)), tmp_path / "dump"
    )
    again = read_dump(tmp_path / "dump")
    assert again.graph.kind is GraphKind.PYTHON and "unused" in again.graph
    assert again.tensors[0].op_type == "Const"


def test_what_was_read_can_be_written_again(tmp_path: Path) -> None:
    write_dump(possible_run(), tmp_path / "one")
    first = read_dump(tmp_path / "one")
    write_dump(first, tmp_path / "two")
    second = read_dump(tmp_path / "two")
    assert described(first) == described(second)
    assert len(first.graph) == len(second.graph)


def test_summaries_keep_their_debug_op(tmp_path: Path) -> None:
    run = run_of(("a", np.ones(2, np.float32)), ("a_0_DebugNanCount", np.ones(1, np.float32)))
    nodes = [Node("a", "Const", CPU0), Node("a_0_DebugNanCount", "DebugNanCount", CPU0, (TensorName("a", 0),))]
    write_dump(replace(run, graph=Graph(nodes)), tmp_path / "dump")
    assert len(list((tmp_path / "dump").rglob("a_0_DebugNanCount_*"))) == 1
    assert [str(tensor.name) for tensor in described(read_dump(tmp_path / "dump"))] == ["a:0", "a_0_DebugNanCount:0"]


def test_the_bytes_on_disk_are_those_of_the_tensors(tmp_path: Path) -> None:
    arrays = [(f"n{number}", np.zeros((500, 500), np.float32)) for number in range(8)]
    write_dump(run_of(*arrays), tmp_path / "dump")
    written = sum(path.stat().st_size for path in (tmp_path / "dump").rglob("*") if path.is_file())
    assert written <= 1.02 * sum(array.nbytes for _, array in arrays)


@pytest.mark.parametrize(
    "array", [np.ones((3, 4))[:, ::2], np.arange(5, dtype=">i8"), np.empty((0, 3)), np.array("x")]
)
def test_arrays_of_every_layout(tmp_path: Path, array: Array) -> None:
    write_dump(run_of(("a", array), dtype=""), tmp_path / "dump")
    value = read_dump(tmp_path / "dump").tensors.value(0)
    assert isinstance(value, np.ndarray) and value.shape == array.shape
    assert value.tolist() == (b"x" if array.dtype.kind == "U" else array.tolist())


def test_names_that_no_file_can_have_are_kept_all_the_same(tmp_path: Path) -> None:
    names = ["../../out", "a/./b", "ok", "nul\0", "x" * 300, "x" * 300]
    values = [np.full(1, number, np.float32) for number in range(len(names))]
    assert write_dump(run_of(*zip(names, values, strict=True)), tmp_path / "deep" / "dump") == ()
    run = read_dump(tmp_path / "deep" / "dump")
    assert [(tensor.node, tensor.execution) for tensor in described(run)] == [
        *((name, 0) for name in names[:-1]),
        (names[-1], 1),
    ]
    assert [run.tensors.value(row).tolist() for row in range(len(names))] == [value.tolist() for value in values]
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert not run.notes
    dump = DebugDumpDir(tmp_path / "deep" / "dump")
    assert dump.size == len(names)
    assert dump.get_tensors("x" * 300, 0, "DebugIdentity")[1].tolist() == [5.0]
    next((tmp_path / "deep" / "dump" / "_tfdbg_cli" / "others").glob("3")).unlink()
    (note,) = read_dump(tmp_path / "deep" / "dump").notes
    assert note.startswith("1 of 6 tensor files is missing (first xxx")


def test_a_file_that_is_missing_keeps_its_place(tmp_path: Path) -> None:
    """Else the turns of a loop behind it would be taken for the ones before."""
    turns = [np.full(1, number, np.float32) for number in range(3)]
    write_dump(run_of(*(("loop/x", value) for value in turns), ("end", turns[0])), tmp_path / "dump")
    second = sorted((tmp_path / "dump").glob("*/loop/x_*"))[1]
    second.unlink()
    run = read_dump(tmp_path / "dump")
    assert [(tensor.node, tensor.execution) for tensor in described(run)][:3] == [
        ("loop/x", turn) for turn in range(3)
    ]
    missing = run.tensors.value(1)
    assert isinstance(missing, NoValue) and missing.text == "The file of this tensor is missing."
    assert run.tensors.value(2).tolist() == [2.0]
    assert list(run.notes) == ["1 of 4 tensor files is missing (first loop/x:0)."]


def test_what_a_case_says_of_files_is_never_a_path(tmp_path: Path) -> None:
    write_dump(run_of(("x", np.ones(1, np.float32))), tmp_path / "dump")
    (secret,) = (tmp_path / "dump").glob("*/x_*")
    secret = secret.rename(tmp_path / "x_0_DebugIdentity_1")
    case = tmp_path / "dump" / "_tfdbg_cli" / "case.json"
    fields = json.loads(case.read_text())
    fields["tensors"]["files"] = [f"../{secret.name}", str(secret), f"a/../../{secret.name}", "x", "", "/"]
    fields["tensors"]["others"] = [[1, 0, f"../../../{secret.name}", 0, "DebugIdentity", ""]]
    case.write_text(json.dumps(fields))
    run = read_dump(tmp_path / "dump")
    assert all(isinstance(run.tensors.value(row), NoValue) for row in range(len(run.tensors)))
    for wrong in (3, {"files": [3], "others": []}, {"files": [], "others": [[1]]}, {"files": []}):
        case.write_text(json.dumps({**fields, "tensors": wrong}))
        assert any("case.json is damaged" in note for note in read_dump(tmp_path / "dump").notes)


def test_values_that_tensorflow_has_no_type_for_are_said(tmp_path: Path) -> None:
    run = run_of(("a", np.array([1, None], object)), ("b", np.ones(2, "M8[s]")), ("c", np.ones(2, np.float64)))
    (note,) = write_dump(run, tmp_path / "dump")
    assert note.startswith("2 tensors were not saved: TensorFlow has no types")
    (tensor,) = described(read_dump(tmp_path / "dump"))
    assert (tensor.node, tensor.dtype) == ("c", "float64")  # what the array is, not what was announced


def test_values_that_are_gone_are_said(tmp_path: Path) -> None:
    (note,) = write_dump(run_of(("a", gone("It was not kept.")), ("b", np.ones(1, np.float32))), tmp_path / "dump")
    assert note == "1 tensor was not saved: its value is not there ('a:0')."
    assert len(read_dump(tmp_path / "dump").tensors) == 1


def test_a_reference_without_a_value_is_not_called_uninitialized(tmp_path: Path) -> None:
    """Why a tensor has no array is kept, also where a file of TensorFlow cannot say it."""
    lacks = [NoValue(Lack.OPAQUE, "A reference to a variable."), NoValue(Lack.UNINITIALIZED, "Never written.")]
    write_dump(run_of(("a", lacks[0]), ("b", lacks[1])), tmp_path / "dump")
    again = read_dump(tmp_path / "dump")
    assert [again.tensors.value(0), again.tensors.value(1)] == lacks
    assert again.tensors[0].dtype == "float32"


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(TfdbgError, match="something at"):
            write_dump(possible_run(), place)
    (tmp_path / "empty").mkdir()
    write_dump(possible_run(), tmp_path / "empty")
    assert len(read_dump(tmp_path / "empty").tensors) == len(VALUES)


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def fail(*args: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(dump_writer, "write_tensor", fail)
    with pytest.raises(TfdbgError, match="disk is full") as caught:
        write_dump(possible_run(), tmp_path / "dump")
    assert caught.value.exit_code == 2 and caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_real_full_device(tmp_path: Path) -> None:
    """Writing to /dev/full fails as a full disk does, in the flush at the end as well."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space left") as caught, full.open("wb") as file:
        dump_writer.write_tensor(file, np.ones(3), "a:0:DebugIdentity", "", 0)
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TfdbgError, match="Cannot write"):
        write_dump(possible_run(), tmp_path / "file" / "dump")


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dump_writer, "write_tensor", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_dump(possible_run(), tmp_path / "dump")
    assert list(tmp_path.iterdir()) == []


def test_times_of_the_run_are_the_times_of_the_files(tmp_path: Path) -> None:
    write_dump(possible_run(), tmp_path / "dump")
    assert len(list((tmp_path / "dump").rglob(f"x_0_DebugIdentity_{T0}"))) == 1


@pytest.mark.tf
def test_tensorflow_reads_what_we_write(tmp_path: Path) -> None:
    """DebugDumpDir, with all of its validation, finds the same tensors, values, op types and inputs."""
    from tensorflow.python.debug.lib import debug_data

    run = possible_run()
    write_dump(run, tmp_path / "dump")
    dump = debug_data.DebugDumpDir(str(tmp_path / "dump"))
    assert dump.size == len(VALUES)
    assert dump.run_fetches_info == "['loss/Mean:0']" and dump.core_metadata.input_names == ["x:0", "y:0"]
    assert sorted(dump.devices()) == run.graph.devices()
    for index, datum in enumerate(dump.dumped_tensor_data):
        tensor = run.tensors[index]
        assert (datum.node_name, datum.output_slot, datum.device_name) == (tensor.node, tensor.slot, tensor.device)
        assert datum.timestamp == tensor.time_us
        assert dump.node_op_type(datum.node_name) == tensor.op_type
        theirs, ours = datum.get_tensor(), run.tensors.value(index)
        if isinstance(ours, NoValue):
            assert isinstance(theirs, debug_data.InconvertibleTensorProto)
        else:
            assert same(np.asarray(theirs), ours)
    assert dump.node_inputs("loss/mul") == ["y", "loss/Log"]


@pytest.mark.tf
def test_tensorflow_reads_a_run_without_times_and_device(tmp_path: Path) -> None:
    from tensorflow.python.debug.lib import debug_data

    write_dump(run_of(("b", np.ones(1, np.float32)), ("a", np.zeros(1, np.float32)), device=""), tmp_path / "dump")
    dump = debug_data.DebugDumpDir(str(tmp_path / "dump"))
    assert [datum.node_name for datum in dump.dumped_tensor_data] == ["b", "a"]
