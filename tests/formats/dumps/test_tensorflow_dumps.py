"""Dumps of TensorFlow's own debugger: we read what its own reader reads, in a process without TensorFlow."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf

READER = """
import hashlib, json, sys
import numpy as np
from tfdbg_cli.formats.opening import open_path

def digest(value):
    if isinstance(value, np.ndarray):
        data = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        return [list(value.shape), hashlib.sha256(data).hexdigest()]
    return str(value.lack)

runs = []
for run in open_path(sys.argv[1]).runs:
    rows = []
    for index in range(len(run.tensors)):
        tensor = run.tensors[index]
        rows.append([tensor.device, tensor.node, tensor.slot, tensor.time_us, tensor.execution, tensor.dtype,
                     tensor.op_type, tensor.shape, tensor.nbytes, digest(run.tensors.value(index))])
    runs.append({"rows": rows, "notes": list(run.notes), "fetches": run.call.fetches, "targets": run.call.targets,
                 "feeds": list(run.call.feeds), "number": run.call.number,
                 "nodes": [node.name for node in run.graph]})
assert "tensorflow" not in sys.modules
json.dump(runs, sys.stdout)
"""


@pytest.fixture(scope="module")
def session_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dumped runs: a small network with a loop on two devices, and one tensor of every common type."""
    import tensorflow as tf
    from tensorflow.python.debug.wrappers.dumping_wrapper import DumpingDebugWrapperSession

    root = tmp_path_factory.mktemp("tensorflow") / "session"
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.set_random_seed(7)
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        with tf.device("/cpu:1"):
            w = v1.get_variable("w", [3, 2], use_resource=False)
            hidden = tf.nn.relu(tf.matmul(x, w, name="dense/MatMul"), name="dense/Relu")
        with tf.device("/cpu:0"):
            _, powers = tf.while_loop(
                lambda i, _: i < 4,
                lambda i, y: (i + 1, y * 2.0),
                [tf.constant(0), tf.reduce_sum(hidden)],
                name="loop",
            )
            loss = tf.math.log(powers - powers, name="loss/Log")
            train = tf.group(w.assign(w - 0.1), name="train")
            types = _tensors_of_many_types(hidden)
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as plain:
            plain.run(w.initializer)
            session = DumpingDebugWrapperSession(plain, str(root), pass_through_operrors=True)
            session.run({"loss": loss, "train": train}, {x: np.ones((2, 3), np.float32)})
            session.run(types, {x: np.ones((2, 3), np.float32)})
    return root


def _tensors_of_many_types(hidden: Any) -> list[Any]:
    import tensorflow as tf

    v1 = tf.compat.v1
    names = "bfloat16 float16 float64 int8 uint8 int16 uint16 int64 uint32 uint64 bool complex64 complex128"
    dtypes = [tf.dtypes.as_dtype(name) for name in f"{names} float8_e5m2 float8_e4m3fn".split()]
    tensors = [tf.cast(hidden, dtype, name=f"to_{dtype.name}") for dtype in dtypes]
    tensors += [tf.cast(hidden * np.nan, tf.bfloat16, name="nan"), tf.strings.as_string(hidden, name="texts")]
    cold = v1.get_variable("cold", [2], use_resource=False)
    tensors.append(v1.is_variable_initialized(cold))
    tensors.append(tf.quantization.quantize(hidden, -1.0, 1.0, tf.qint8, name="quantized").output)
    tensors.append(tf.boolean_mask(hidden, hidden < -1, name="empty"))
    handles = tf.raw_ops.EmptyTensorList(
        element_shape=tf.stack([tf.size(hidden)]),
        max_num_elements=tf.size(hidden),
        element_dtype=tf.float32,
        name="list",
    )
    tensors.append(tf.raw_ops.TensorListLength(input_handle=handles))
    return tensors


@pytest.fixture(scope="module")
def ours(session_root: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(session_root)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    runs: list[dict[str, Any]] = json.loads(done.stdout)
    return runs


def theirs(run: Path) -> Any:
    from tensorflow.python.debug.lib import debug_data

    return debug_data.DebugDumpDir(str(run))


def _digest(value: Any) -> Any:
    from tensorflow.python.debug.lib import debug_data

    if isinstance(value, NoValue):
        return str(value.lack)
    if isinstance(value, debug_data.InconvertibleTensorProto):
        return "opaque" if value.initialized or "DT_VARIANT" in str(value) else "uninitialized"
    data = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
    return [list(value.shape), hashlib.sha256(data).hexdigest()]


KERAS = """
import sys
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src import backend
from tensorflow.python.debug.wrappers.dumping_wrapper import DumpingDebugWrapperSession

tf.compat.v1.disable_v2_behavior()
backend.set_session(DumpingDebugWrapperSession(tf.compat.v1.Session(), sys.argv[1]))
layers = tf_keras.layers
model = tf_keras.Sequential([
    layers.Input((4, 3)), layers.LSTM(5), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(2),
])
model.compile(tf_keras.optimizers.legacy.Adam(), "mse")
model.fit(np.ones((8, 4, 3), "f"), np.ones((8, 2), "f"), batch_size=4, verbose=0)
"""


@pytest.mark.slow
def test_a_fit_of_keras_in_sessions_is_read_alike(tmp_path: Path) -> None:
    pytest.importorskip("tf_keras")
    done = subprocess.run([sys.executable, "-c", KERAS, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    most = 0
    for run in open_path(tmp_path).runs:
        dumped = theirs(Path(run.origin_path)).dumped_tensor_data
        expected = {
            (datum.device_name, datum.node_name, datum.output_slot, datum.timestamp): _digest(datum.get_tensor())
            for datum in dumped
        }
        rows = [run.tensors[index] for index in range(len(run.tensors))]
        values = [_digest(run.tensors.value(index)) for index in range(len(rows))]
        found = {
            (row.device, row.node, row.slot, row.time_us): value for row, value in zip(rows, values, strict=True)
        }
        assert found == expected and len(rows) == len(dumped)
        most = max(most, len(rows))
    assert most > 1_000, "the steps of the fit are among the runs"


@pytest.mark.parametrize("number", [0, 1])
def test_the_same_tensors_with_the_same_values(session_root: Path, ours: list[dict[str, Any]], number: int) -> None:
    run = next(path for path in session_root.iterdir() if path.name.endswith(f"_{number}"))
    dump = theirs(run)
    expected = {
        (datum.device_name, datum.node_name, datum.output_slot, datum.timestamp): _digest(datum.get_tensor())
        for datum in dump.dumped_tensor_data
    }
    found = {tuple(row[:4]): row[-1] for row in ours[number]["rows"]}
    assert len(found) == len(ours[number]["rows"]) == dump.size
    assert found == expected
    times = [row[3] for row in ours[number]["rows"]]
    assert times == sorted(times) and times[0] == dump.t0
    assert ours[number]["notes"] == []


def test_op_types_and_graphs_are_those_of_tensorflow(session_root: Path, ours: list[dict[str, Any]]) -> None:
    run = next(path for path in session_root.iterdir() if path.name.endswith("_0"))
    dump = theirs(run)
    for device, node, *_, op_type, _, _, _ in ours[0]["rows"]:
        assert op_type == dump.node_op_type(node, device_name=device)
    graphs = dump.reconstructed_non_debug_partition_graphs()
    assert sorted(ours[0]["nodes"]) == sorted(node.name for graph in graphs.values() for node in graph.node)


def test_edges_are_those_of_tensorflow(session_root: Path) -> None:
    run = open_path(session_root).runs[0]
    dump = theirs(Path(run.origin_path))
    nodes = [
        node for node in run.graph if node.op_type not in {"_Recv", "_HostRecv"}
    ]  # ours are joined to their sends
    assert any(node.inputs for node in nodes)
    for node in nodes:
        inputs = dump.node_inputs(node.name, device_name=node.device)
        assert [str(name) if name.slot else name.node for name in node.inputs] == inputs
        controls = dump.node_inputs(node.name, is_control=True, device_name=node.device)
        assert set(node.control_inputs) == set(controls)


def test_sent_tensors_are_joined_over_devices(session_root: Path) -> None:
    run = open_path(session_root).runs[0]
    received = [node for node in run.graph if node.op_type == "_Recv"]
    assert received
    for node in received:
        (sent,) = node.inputs
        origin = run.graph.find(sent.node)
        assert origin is not None and origin.device != node.device


def test_types_shapes_and_sizes_come_from_the_headers(ours: list[dict[str, Any]]) -> None:
    rows = {(row[1], row[2]): row for row in ours[1]["rows"]}
    sizes = {"bfloat16": 2, "float8_e5m2": 1, "float8_e4m3fn": 1, "complex128": 16, "bool": 1, "uint64": 8}
    for dtype, size in sizes.items():
        row = rows[f"to_{dtype}", 0]
        assert row[5:9] == [dtype, "Cast", [2, 2], 4 * size]
    assert rows["quantized", 0][5] == "qint8"
    assert rows["cold", 0][7:] == [[2], None, "uninitialized"]
    assert rows["list", 0][5] == "variant" and rows["list", 0][-1] == "opaque"
    assert rows["texts", 0][5] == "string" and rows["texts", 0][8] > 0


def test_loop_iterations_are_executions(ours: list[dict[str, Any]]) -> None:
    """Executions count 0, 1, 2 … in order of time, for each tensor on its device."""
    seen: dict[tuple[str, str, int], int] = {}
    for device, node, slot, _, execution, *_ in ours[0]["rows"]:
        assert execution == seen.get((device, node, slot), 0)
        seen[device, node, slot] = execution + 1
    assert max(seen.values()) >= 4


def test_the_call_is_known(ours: list[dict[str, Any]]) -> None:
    first = ours[0]
    assert (first["number"], first["fetches"], first["targets"], first["feeds"]) == (
        1,
        ["loss/Log:0"],
        ["train"],
        ["x:0"],
    )
    assert ours[1]["number"] == 2
    assert ours[1]["fetches"][:2] == ["to_bfloat16:0", "to_float16:0"]


def test_what_we_write_again_tensorflow_reads_again(session_root: Path, tmp_path: Path) -> None:
    from tfdbg_cli.formats.dumps.writer import write_dump

    for number, run in enumerate(open_path(session_root).runs):
        assert write_dump(run, tmp_path / str(number)) == ()
        dumps = [theirs(Path(run.origin_path)), theirs(tmp_path / str(number))]
        first, second = (
            {
                (datum.device_name, datum.watch_key, datum.timestamp): _digest(datum.get_tensor())
                for datum in dump.dumped_tensor_data
                if "DT_RESOURCE" not in str(datum.get_tensor())
            }
            for dump in dumps
        )
        assert first == second and first


def test_the_reader_of_tensorflow_passes_over_what_we_add(session_root: Path, tmp_path: Path) -> None:
    from tfdbg_cli.formats.dumps.case_writer import add_case_files

    copy = tmp_path / "copy"
    shutil.copytree(session_root, copy)
    run = open_path(copy).runs[0]
    before = theirs(Path(run.origin_path))
    add_case_files(Path(run.origin_path), run)
    after = theirs(Path(run.origin_path))
    assert (after.size, after.devices(), after.run_fetches_info) == (
        before.size,
        before.devices(),
        before.run_fetches_info,
    )
    assert [datum.watch_key for datum in after.dumped_tensor_data] == [
        datum.watch_key for datum in before.dumped_tensor_data
    ]
