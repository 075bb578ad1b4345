"""Event sets written by hand, record by record, without TensorFlow."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.formats.recording.checksum import masked_checksum

START = 1_700_000_000.0
TRAIN_PY = ["import tensorflow as tf", "", "def step(x):", "    return tf.math.log(x)", "", "step(0.0)"]


def record(content: bytes) -> bytes:
    """`content` as a TFRecord file holds it."""
    head = struct.pack("<Q", len(content))
    return head + struct.pack("<I", masked_checksum(head)) + content + struct.pack("<I", masked_checksum(content))


def proto(array: np.ndarray) -> Any:
    head, content = tensor_proto.encode_parts(array)
    return schema.TensorProto.FromString(head + bytes(content))


class EventSetMaker:
    """One host's files of a set. Times go up by a millisecond an event."""

    def __init__(self, folder: Path, mode: int = 4, host: str = "ada", run_id: str = "abc123") -> None:
        self.prefix = folder / f"tfdbg_events.1700000000.{host}"
        self.mode = mode
        self.time = START
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("source_files", "stack_frames", "graphs", "execution", "graph_execution_traces"):
            self.path(kind).touch()
        metadata = {"tensorflow_version": "2.21.0", "file_version": "debug.Event:1", "tfdbg_run_id": run_id}
        self._write("metadata", debug_metadata=metadata)
        self._write("source_files", source_file={"file_path": "/home/ada/train.py", "lines": TRAIN_PY})
        place = {"file_index": 0, "line": 4, "func": "step"}
        self._write("stack_frames", stack_frame_with_id={"id": "frame", "file_line_col": place})

    def path(self, kind: str) -> Path:
        return Path(f"{self.prefix}.{kind}")

    def _write(self, kind: str, **what: Any) -> None:
        self.time += 0.001
        with self.path(kind).open("ab") as file:
            file.write(record(schema.DebugEvent(wall_time=self.time, **what).SerializeToString()))

    def raw(self, kind: str, message: Any) -> None:
        with self.path(kind).open("ab") as file:
            file.write(record(message.SerializeToString()))

    def device(self, number: int = 1, name: str = "/device:CPU:0") -> None:
        self.raw("graphs", schema.EventHead(debugged_device={"device_id": number, "device_name": name}))

    def graph(self, graph_id: str, name: str, outer: str = "") -> None:
        told = {"graph_id": graph_id, "graph_name": name, "outer_context_id": outer}
        self.raw("graphs", schema.EventHead(debugged_graph=told))

    def op(self, graph_id: str, name: str, op_type: str, inputs: Sequence[str] = ()) -> None:
        made = {"op_type": op_type, "op_name": name, "graph_id": graph_id, "input_names": inputs}
        head = schema.EventHead(graph_op_creation=made).SerializeToString()
        stack = {"code_location": {"stack_frame_ids": ["frame"]}}
        # Two parts of one message, each of which knows its own fields, are merged when they are read.
        self.raw(
            "graphs",
            schema.EventHead.FromString(head + schema.DebugEvent(graph_op_creation=stack).SerializeToString()),
        )

    def execution(
        self, op_type: str, inputs: Sequence[int], outputs: Sequence[int], protos: Sequence[Any] = (), graph: str = ""
    ) -> None:
        self._write(
            "execution",
            execution={
                "op_type": op_type, "num_outputs": len(outputs), "graph_id": graph, "input_tensor_ids": inputs,
                "output_tensor_ids": outputs, "tensor_debug_mode": self.mode, "tensor_protos": protos,
                "output_tensor_device_ids": [1] * len(outputs), "code_location": {"stack_frame_ids": ["frame"]},
            },
        )  # fmt: skip

    def trace(self, graph_id: str, name: str, told: Any, slot: int = 0, device: str = "/device:CPU:0") -> None:
        self._write(
            "graph_execution_traces",
            graph_execution_trace={
                "tfdbg_context_id": graph_id, "op_name": name, "output_slot": slot, "tensor_debug_mode": self.mode,
                "tensor_proto": told, "device_name": device,
            },
        )  # fmt: skip


def health(
    size: int, *, nan: int = 0, neg_inf: int = 0, pos_inf: int = 0, neg: int = 0, zero: int = 0, dtype: int = 1
) -> Any:
    """The eleven numbers of FULL_HEALTH, of a matrix."""
    pos = size - nan - neg_inf - pos_inf - neg - zero
    return proto(np.array([7, -1, dtype, 2, size, neg_inf, pos_inf, nan, neg, zero, pos], np.float64))


def small_set(folder: Path, calls: int = 2) -> EventSetMaker:
    """Eager ops, then calls of `step`, in which a logarithm in a called function meets 0 in the last call."""
    made = EventSetMaker(folder)
    made.device()
    made.graph("outside", "")
    made.graph("g", "step", "outside")
    made.op("g", "x", "Placeholder")
    made.op("g", "Softmax", "Softmax", ["x:0"])
    made.graph("h", "logarithm", "g")
    made.op("h", "y", "Placeholder")
    made.op("h", "Log", "Log", ["y:0"])
    made.op("g", "mul", "Mul", ["StatefulPartitionedCall:0", "Softmax:0"])
    made.execution("AddV2", [1, 2], [3], [health(6)])
    made.execution("Mul", [3, 3], [4], [health(6)])
    for call in range(calls):
        bad = int(call == calls - 1)
        made.trace("g", "x", health(6))
        made.trace("g", "Softmax", health(6, zero=bad))
        made.trace("h", "y", health(6, zero=bad))
        made.trace("h", "Log", health(6, neg_inf=bad, neg=6 - bad))
        made.trace("g", "mul", health(6, nan=bad))
        made.execution("__inference_step_12", [4], [10 + call], [health(6, nan=bad)], graph="g")
    made.execution("Neg", [9 + calls], [50], [health(6, nan=1)])
    return made
