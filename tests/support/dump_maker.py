"""Dump directories made by hand, as TensorFlow lays them out, for tests without TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tfdbg_cli.formats.dumps.device_names import directory_of
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_file import write_tensor

CPU0 = "/job:localhost/replica:0/task:0/device:CPU:0"
CPU1 = "/job:localhost/replica:0/task:0/device:CPU:1"
T0 = 1_700_000_000_000_000


def dump_tensor(
    run: Path,
    name: str,
    time_us: int,
    value: object = 1.0,
    *,
    device: str = CPU0,
    op: str = "DebugIdentity",
    repeat: int = 0,
) -> Path:
    """Write one tensor, called `node:slot`, `time_us` microseconds after T0."""
    node, _, slot = name.partition(":")
    suffix = f"-{repeat}" if repeat else ""
    path = run / directory_of(device) / f"{node}_{slot or 0}_{op}_{T0 + time_us}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    array = np.asarray(value, np.float32) if isinstance(value, float | list) else np.asarray(value)
    with path.open("wb") as file:
        write_tensor(file, array, f"{node}:{slot or 0}:{op}", device, T0 + time_us)
    return path


def dump_graph(run: Path, nodes: list[tuple[str, str, list[str]]], device: str = CPU0, time_us: int = 0) -> Path:
    """Write the partition graph of `device`: (name, op, inputs) of each node."""
    graph = schema.GraphDef()
    for name, op, inputs in nodes:
        node = graph.node.add(name=name, op=op, device=device)
        node.input.extend(inputs)
    path = run / directory_of(device) / f"_tfdbg_graph_hash123_{T0 + time_us}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(schema.Event(graph_def=graph.SerializeToString()).SerializeToString())
    return path


def dump_message(run: Path, name: str, message: str) -> Path:
    """Write a file that holds one message."""
    event = schema.Event()
    event.log_message.message = message
    run.mkdir(parents=True, exist_ok=True)
    path = run / name
    path.write_bytes(event.SerializeToString())
    return path


def dump_core_metadata(run: Path, **changes: object) -> Path:
    fields = {
        "global_step": -1, "session_run_index": 4, "executor_step_index": 0, "input_names": ["x:0", "y:0"],
        "output_names": ["a:0", "b:0"], "target_nodes": ["train"],
    }  # fmt: skip
    return dump_message(run, f"_tfdbg_core_metadata_sessionrun00000000000004_{T0}", json.dumps(fields | changes))


def small_dump(run: Path) -> Path:
    """x → double → total on one device; total is sent to `seen` on another."""
    dump_graph(run, [("x", "Placeholder", []), ("double", "Mul", ["x", "x"]), ("total", "Sum", ["double"])])
    dump_graph(run, [("seen", "Identity", ["total"])], CPU1)
    dump_tensor(run, "x", 10, [1.0, 2.0])
    dump_tensor(run, "double", 20, [2.0, 4.0])
    dump_tensor(run, "total", 30, 6.0)
    dump_tensor(run, "seen", 25, 6.0, device=CPU1)
    dump_core_metadata(run)
    return run
