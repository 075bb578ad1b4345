"""DebugDumpDir on dumps made by hand: what TensorFlow's has, and what it gets wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.dump_maker import CPU0, CPU1, T0, dump_core_metadata, dump_graph, dump_message, dump_tensor, small_dump
from support.package_source import PROJECT

from tfdbg_cli.debug_data import (
    DebugDumpDir,
    InconvertibleTensorProto,
    WatchKeyDoesNotExistInDebugDumpDirError,
    has_inf_or_nan,
    reconstruct_non_debug_graph_def,
)
from tfdbg_cli.formats.dumps.device_names import directory_of
from tfdbg_cli.formats.messages import schema


def names(data) -> list[str]:
    return [datum.node_name for datum in data]


@pytest.fixture
def dump(tmp_path):
    return DebugDumpDir(small_dump(tmp_path))


@pytest.fixture
def two_devices(tmp_path):
    """A node `n` and a tensor of it on each of two devices; what is sent from one to the other."""
    sending = {"tensor_name": b"edge_a", "send_device": CPU0.encode(), "recv_device": CPU1.encode()}
    dump_graph(tmp_path, [("n", "Neg", []), ("a", "Neg", ["n"]), ("a/_1", "_Send", ["a"])], CPU0)
    dump_graph(tmp_path, [("n", "Abs", []), ("a/_2", "_Recv", []), ("b", "Neg", ["a/_2"])], CPU1)
    for path in tmp_path.glob("*/_tfdbg_graph_*"):
        event = schema.Event.FromString(path.read_bytes())
        graph = schema.GraphDef.FromString(event.graph_def)
        for node in graph.node:
            for name, text in sending.items() if node.op in {"_Send", "_Recv"} else ():
                node.attr[name].s = text
        path.write_bytes(schema.Event(graph_def=graph.SerializeToString()).SerializeToString())
    dump_tensor(tmp_path, "n", 9, float("nan"), device=CPU0)
    dump_tensor(tmp_path, "n", 5, float("inf"), device=CPU1)
    dump_tensor(tmp_path, "b", 20, 2.0, device=CPU1)
    return DebugDumpDir(str(tmp_path))


def test_tensors(dump, tmp_path) -> None:
    assert (dump.size, dump.t0, dump.devices()) == (4, T0 + 10, [CPU0, CPU1])
    assert names(dump.dumped_tensor_data) == ["x", "double", "seen", "total"]
    assert [value.tolist() for value in dump.get_tensors("double", 0, "DebugIdentity")] == [[2, 4]]
    assert dump.get_rel_timestamps("total", 0, "DebugIdentity") == [20]
    (path,) = dump.get_tensor_file_paths("total", 0, "DebugIdentity")
    assert path.startswith(f"{tmp_path}/{directory_of(CPU0)}/total_0_DebugIdentity_")
    assert dump.get_dump_sizes_bytes("total", 0, "DebugIdentity") == [Path(path).stat().st_size]
    assert dump.debug_watch_keys("x") == ["x:0:DebugIdentity"]
    assert names(dump.watch_key_to_data("x:0:DebugIdentity")) == ["x"]
    assert dump.watch_key_to_data("nothing:0:DebugIdentity") == dump.debug_watch_keys("nothing") == []


def test_what_was_not_dumped_is_one_error_everywhere(dump) -> None:
    for method in ("get_tensors", "get_tensor_file_paths", "get_rel_timestamps", "get_dump_sizes_bytes"):
        for arguments in (("x", 1, "DebugIdentity"), ("x", 0, "DebugNanCount"), ("foo", 0, "DebugIdentity")):
            with pytest.raises(WatchKeyDoesNotExistInDebugDumpDirError, match=f'"{arguments[0]}:{arguments[1]}:'):
                getattr(dump, method)(*arguments)
        with pytest.raises(WatchKeyDoesNotExistInDebugDumpDirError, match="of device /nowhere"):
            getattr(dump, method)("x", 0, "DebugIdentity", "/nowhere")


def test_the_call(tmp_path) -> None:
    dump = DebugDumpDir(small_dump(tmp_path))
    metadata = dump.core_metadata
    assert (metadata.global_step, metadata.session_run_index, metadata.executor_step_index) == (-1, 4, 0)
    assert (metadata.input_names, metadata.output_names, metadata.target_nodes) == (
        ["x:0", "y:0"], ["a:0", "b:0"], ["train"],
    )  # fmt: skip
    assert dump.run_fetches_info is dump.run_feed_keys_info is None
    dump_message(tmp_path, "_tfdbg_fetches_info_", "[<tf.Tensor 'a:0'>]")
    dump_message(tmp_path, "_tfdbg_feed_keys_info_", "None")
    (tmp_path / "_tfdbg_core_metadata_sessionrun00000000000004_1").write_bytes(
        dump_core_metadata(tmp_path).read_bytes()
    )
    dump = DebugDumpDir(tmp_path)
    assert (dump.run_fetches_info, dump.run_feed_keys_info) == ("[<tf.Tensor 'a:0'>]", "None")
    assert [metadata.session_run_index for metadata in dump.core_metadata] == [4, 4]


def test_graphs(dump) -> None:
    assert dump.loaded_partition_graphs()
    assert dump.nodes() == ["x", "double", "total", "seen"]
    assert dump.nodes(CPU1) == ["seen"]
    assert dump.node_exists("x") and not dump.node_exists("foo")
    assert (dump.node_device("x"), dump.node_op_type("double")) == (CPU0, "Mul")
    assert (dump.node_inputs("double"), dump.node_inputs("double", is_control=True)) == (["x", "x"], [])
    assert (dump.node_recipients("x"), dump.node_recipients("x", is_control=True)) == (["double", "double"], [])
    assert dump.transitive_inputs("total") == ["double", "x"]
    assert dump.find_some_path("x:0", "total:0") == ["x", "double", "total"]
    assert dump.find_some_path("total", "x") is None
    assert dump.find_some_path("x", "x") == ["x"]
    assert [len(graph.node) for graph in dump.partition_graphs()] == [3, 1]
    assert {device: len(graph.node) for device, graph in dump.reconstructed_non_debug_partition_graphs().items()} == {
        CPU0: 3, CPU1: 1,
    }  # fmt: skip


def test_a_node_that_is_not_there(dump) -> None:
    for method in ("node_op_type", "node_attributes", "node_inputs", "node_recipients", "transitive_inputs"):
        with pytest.raises(ValueError, match=r"None of the 2 device\(s\) has a node named 'foo'"):
            getattr(dump, method)("foo")
        with pytest.raises(ValueError, match=f"The device {CPU1} has no node named 'x'"):
            getattr(dump, method)("x", device_name=CPU1)
        with pytest.raises(ValueError, match="Invalid device name: /nowhere"):
            getattr(dump, method)("x", device_name="/nowhere")
    with pytest.raises(ValueError, match="Node 'foo' does not exist in partition graphs"):
        dump.node_device("foo")


def test_first_is_first_in_time_over_all_devices(two_devices) -> None:
    """Defect of TensorFlow's debugger: find(first_n=1) goes from device to device."""
    (first,) = two_devices.find(has_inf_or_nan, first_n=1)
    assert (first.device_name, first.timestamp) == (CPU1, T0 + 5)
    assert [datum.device_name for datum in two_devices.find(has_inf_or_nan)] == [CPU1, CPU0]


def test_a_device_can_be_named_everywhere(two_devices) -> None:
    """Defects of TensorFlow's debugger: find and watch_key_to_data fail with a device, node_exists ignores it."""
    (found,) = two_devices.find(has_inf_or_nan, device_name=CPU0)
    assert (found.device_name, np.isnan(found.get_tensor())) == (CPU0, True)
    (datum,) = two_devices.watch_key_to_data("n:0:DebugIdentity", CPU1)
    assert np.isinf(datum.get_tensor())
    assert two_devices.node_exists("b", CPU1) and not two_devices.node_exists("b", CPU0)
    assert two_devices.node_op_type("n", CPU1) == "Abs"
    assert two_devices.debug_watch_keys("n", CPU1) == two_devices.debug_watch_keys("n") == ["n:0:DebugIdentity"]
    assert two_devices.debug_watch_keys("b", CPU0) == []
    assert two_devices.node_device("n") == [CPU0, CPU1]
    for call in (
        lambda device: two_devices.find(has_inf_or_nan, device_name=device),
        lambda device: two_devices.watch_key_to_data("n:0:DebugIdentity", device),
        lambda device: two_devices.node_exists("n", device),
        two_devices.nodes,
    ):
        with pytest.raises(ValueError, match="/nowhere"):
            call("/nowhere")


def test_what_is_on_several_devices_asks_for_one(two_devices) -> None:
    with pytest.raises(ValueError, match=r"exists on multiple \(2\) devices.*device:CPU:0, /job"):
        two_devices.watch_key_to_data("n:0:DebugIdentity")
    with pytest.raises(ValueError, match=r"multiple \(2\) devices"):
        two_devices.get_tensors("n", 0, "DebugIdentity")
    with pytest.raises(ValueError, match=r"There are multiple \(2\) devices with nodes named 'n'"):
        two_devices.node_op_type("n")


def test_the_device_is_inferred_where_only_one_has_dumps(tmp_path) -> None:
    """Defect of TensorFlow's debugger: the graphs alone are asked, and without a graph nothing can be read."""
    for device in (CPU0, CPU1):
        dump_graph(tmp_path, [("n", "Neg", [])], device)
    dump_tensor(tmp_path, "n", 5, 2.0, device=CPU1)
    assert DebugDumpDir(tmp_path).get_tensors("n", 0, "DebugIdentity") == [2]
    for path in tmp_path.glob("*/_tfdbg_graph_*"):
        path.unlink()
    dump = DebugDumpDir(tmp_path)
    assert dump.get_tensors("n", 0, "DebugIdentity") == [2]
    assert not dump.loaded_partition_graphs()
    with pytest.raises(LookupError, match="No partition graphs have been loaded"):
        dump.nodes()
    assert any("was not saved" in note for note in dump.notes)


def test_a_path_crosses_devices(two_devices) -> None:
    assert two_devices.find_some_path("a", "b") == ["a", "a/_1", "a/_2", "b"]
    assert two_devices.find_some_path("b", "a") is None


def test_nodes_are_excluded_from_the_start_of_their_names(dump) -> None:
    every = lambda datum, value: True  # noqa: E731
    assert names(dump.find(every, exclude_node_names="s|x$")) == ["double", "total"]
    assert names(dump.find(every, exclude_node_names=".*l$")) == ["x", "double", "seen"]
    assert names(dump.find(every, first_n=2)) == ["x", "double"]


def test_dumps_of_one_tensor_stand_in_order(tmp_path) -> None:
    """Defect of TensorFlow's debugger: the repeats of a microsecond were sorted as text, 10 before 2."""
    for repeat in (10, 0, 2):
        dump_tensor(tmp_path, "a", 7, float(repeat), repeat=repeat)
    assert [float(value) for value in DebugDumpDir(tmp_path).get_tensors("a", 0, "DebugIdentity")] == [0, 2, 10]


def test_a_damaged_file_costs_that_file(tmp_path) -> None:
    small_dump(tmp_path)
    (path,) = tmp_path.glob("*/x_0_*")
    path.write_bytes(b"")
    (tmp_path / directory_of(CPU0) / "notes.txt").write_text("not a dump")
    dump = DebugDumpDir(tmp_path)
    with pytest.warns(RuntimeWarning, match="1 dump file.* could not be read.* empty"):
        assert names(dump.find(lambda datum, value: True)) == ["double", "seen", "total"]
    assert any("notes.txt" in note for note in dump.notes)


def test_a_dump_that_contradicts_its_graph_is_refused_unless_it_need_not_be_valid(tmp_path) -> None:
    dump_graph(tmp_path, [("a", "Neg", []), ("b", "Neg", ["a"])])
    dump_tensor(tmp_path, "a", 20)
    dump_tensor(tmp_path, "b", 10)
    with pytest.raises(ValueError, match="Causality violated in timing relations of debug dumps: b "):
        DebugDumpDir(tmp_path)
    assert DebugDumpDir(tmp_path, validate=False).size == 2
    dump_tensor(tmp_path, "c", 30)
    with pytest.raises(ValueError, match="Node name 'c' is not found in partition graphs of device"):
        DebugDumpDir(tmp_path)


def test_runs_that_wrote_into_one_folder_are_no_contradiction(tmp_path) -> None:
    """Defect of TensorFlow's debugger: of several graphs of a device one counts, whose nodes are those of one run."""
    dump_graph(tmp_path, [("a", "Neg", [])], time_us=1)
    dump_graph(tmp_path, [("b", "Neg", [])], time_us=2)
    dump_tensor(tmp_path, "a", 10)
    dump_tensor(tmp_path, "b", 20)
    dump = DebugDumpDir(tmp_path)
    assert sorted(dump.nodes()) == ["a", "b"]


def test_graphs_of_the_caller_stand_in_for_those_that_are_missing(tmp_path) -> None:
    dump_tensor(tmp_path, "a", 1)
    graph = schema.GraphDef()
    graph.node.add(name="a", op="Neg", device=CPU0)
    other = schema.GraphDef()
    other.node.add(name="z", op="Abs", device=CPU1)
    assert DebugDumpDir(tmp_path, partition_graphs=[other, graph]).node_op_type("a") == "Neg"
    dump_graph(tmp_path, [("a", "Abs", [])])
    assert DebugDumpDir(tmp_path, partition_graphs=[other, graph]).node_op_type("a") == "Abs"


def test_folders_that_are_no_dump(tmp_path) -> None:
    with pytest.raises(OSError, match=r"Dump root directory .*/nowhere does not exist"):
        DebugDumpDir(tmp_path / "nowhere")
    small_dump(tmp_path / "session" / "run_17_0")
    root = DebugDumpDir(tmp_path / "session")
    assert (root.size, root.t0, root.core_metadata) == (0, None, None)
    assert any("holds 1 runs and is none itself: read run_17_0" in note for note in root.notes)


def test_slots_control_inputs_and_the_nodes_of_the_debugger(tmp_path) -> None:
    dump_graph(
        tmp_path,
        [
            ("u", "Unique", []),
            ("__copy_u_1", "Copy", ["u:1"]),
            ("__dbg_u:1_0_DebugIdentity", "DebugIdentity", ["__copy_u_1"]),
            ("v", "Neg", ["__copy_u_1", "^u", "^__dbg_u:1_0_DebugIdentity"]),
            ("w", "Neg", ["u", "^v"]),
        ],
    )
    dump_tensor(tmp_path, "u:1", 1)
    dump = DebugDumpDir(tmp_path)
    assert dump.nodes() == ["u", "v", "w"]
    assert (dump.node_inputs("v"), dump.node_inputs("v", is_control=True)) == (["u:1"], ["u"])
    assert (dump.node_recipients("u"), dump.node_recipients("u", is_control=True)) == (["v", "w"], ["v"])
    assert dump.transitive_inputs("w") == ["u", "v"]
    assert dump.transitive_inputs("w", include_control=False) == ["u"]
    assert dump.find_some_path("v", "w") == ["v", "w"]
    assert dump.find_some_path("v", "w", include_control=False) is None
    (graph,) = dump.partition_graphs()
    assert len(graph.node) == 5
    plain = dump.reconstructed_non_debug_partition_graphs()[CPU0]
    assert [(node.name, list(node.input)) for node in plain.node] == [
        ("u", []), ("v", ["u:1", "^u"]), ("w", ["u", "^v"]),
    ]  # fmt: skip
    assert plain == reconstruct_non_debug_graph_def(graph)


def test_what_else_is_in_a_graph_stays_when_the_debuggers_nodes_go() -> None:
    """Defect of TensorFlow's debugger: functions and versions are lost."""
    graph = schema.GraphDef(library=b"\x0a\x00")
    graph.versions.producer = 1000
    graph.node.add(name="__dbg_a", op="DebugIdentity")
    graph.node.add(name="__dbg_mine", op="Neg")
    plain = reconstruct_non_debug_graph_def(graph)
    assert (plain.library, plain.versions.producer) == (graph.library, 1000)
    assert [node.name for node in plain.node] == ["__dbg_mine"]
    assert len(graph.node) == 2


def test_walks_end_in_circles_and_go_as_deep_as_it_takes(tmp_path) -> None:
    """Defects of TensorFlow's debugger: it stops at a Merge, and long chains are a RecursionError."""
    chain = [(f"n{i}", "Neg", [f"n{i - 1}"]) for i in range(1, 5000)]
    loop = [("enter", "Enter", []), ("merge", "Merge", ["enter", "next"]), ("next", "NextIteration", ["merge"])]
    dump_graph(tmp_path, [("n0", "Neg", ["n0"]), *chain, *loop])
    dump_tensor(tmp_path, "n0", 1)
    dump = DebugDumpDir(tmp_path)
    assert len(dump.transitive_inputs("n4999")) == 4999
    assert dump.find_some_path("n0", "n4999") == [f"n{i}" for i in range(5000)]
    assert dump.transitive_inputs("next") == ["merge", "enter"]
    assert dump.find_some_path("enter", "next") == ["enter", "merge", "next"]
    assert dump.find_some_path("next", "enter") is None


def test_references_are_followed_back_where_they_are_given(tmp_path) -> None:
    """Defect of TensorFlow's debugger: every edge counted as one by reference."""
    dump_graph(tmp_path, [("v", "VariableV2", []), ("d", "Const", []), ("inc", "AssignAdd", ["v", "d"])])
    dump_tensor(tmp_path, "d", 1)
    dump = DebugDumpDir(tmp_path)
    assert dump.find_some_path("d", "v") is None
    assert dump.find_some_path("d", "v", include_reversed_ref=True) == ["d", "inc", "v"]
    assert dump.find_some_path("v", "d", include_reversed_ref=True) is None
    assert dump.transitive_inputs("v", include_reversed_ref=True) == ["inc", "d"]


def test_slashes_that_a_path_cannot_keep(tmp_path) -> None:
    dump_graph(tmp_path, [("a//b", "Neg", []), ("c", "Neg", ["a//b"])])
    dump_tensor(tmp_path, "a/b", 1)
    dump = DebugDumpDir(tmp_path)
    for name in ("a//b", "a/b"):
        assert dump.get_tensors(name, 0, "DebugIdentity") == [1]
        assert dump.node_op_type(name) == "Neg"
        assert dump.debug_watch_keys(name) == ["a/b:0:DebugIdentity"]
    assert dump.find_some_path("a//b", "c") == ["a/b", "c"]


def test_tracebacks_need_a_graph_where_the_dump_has_none(dump) -> None:
    with pytest.raises(LookupError, match="Python graph is not available for traceback lookup"):
        dump.node_traceback("x")

    class Operation:
        name = "x"
        traceback = (("file.py", 3, "f", "x = 1"),)

    class PythonGraph:
        def get_operations(self):
            return [Operation]

    graph = PythonGraph()
    dump.set_python_graph(graph)
    assert dump.python_graph is graph
    assert dump.node_traceback("x") == dump.node_traceback("x:0") == (("file.py", 3, "f", "x = 1"),)
    with pytest.raises(KeyError, match='Cannot find node "foo" in Python graph'):
        dump.node_traceback("foo")


def test_links_that_lead_out_are_not_followed(tmp_path) -> None:
    outside = dump_tensor(tmp_path / "outside", "secret", 1)
    run = small_dump(tmp_path / "run")
    (run / directory_of(CPU0) / "secret_0_DebugIdentity_5").symlink_to(outside)
    dump = DebugDumpDir(run)
    assert dump.debug_watch_keys("secret") == []
    assert any("not followed" in note for note in dump.notes)


def test_a_variable_that_was_not_initialized_is_no_bad_number(tmp_path) -> None:
    dump_tensor(tmp_path, "v", 1, np.zeros((2,), np.float32))
    (path,) = tmp_path.glob("*/v_0_*")
    event = schema.Event.FromString(path.read_bytes())
    event.summary.value[0].tensor.tensor_content = b""
    path.write_bytes(event.SerializeToString())
    dump = DebugDumpDir(tmp_path)
    (value,) = dump.get_tensors("v", 0, "DebugIdentity")
    assert isinstance(value, InconvertibleTensorProto) and not value.initialized
    assert dump.find(has_inf_or_nan) == []


def test_it_needs_no_tensorflow(tmp_path) -> None:
    small_dump(tmp_path)
    program = f"""
import sys
from pathlib import Path
import tfdbg_cli as tf_debug

dump = tf_debug.DebugDumpDir({str(tmp_path)!r})
assert [datum.get_tensor().sum() for datum in dump.find(lambda datum, value: value.sum() > 5)] == [6, 6, 6]
tf_debug.reconstruct_non_debug_graph_def(dump.partition_graphs()[0])
tf_debug.DebugTensorDatum, tf_debug.load_tensor_from_event, tf_debug.load_tensor_from_event_file
tf_debug.gradient_values_from_dump, tf_debug.GrpcDebugHook, tf_debug.TensorBoardDebugWrapperSession
print([name for name in ("tensorflow", "urwid") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
