"""Events as TensorFlow's runtime sends them to a debug server, made without TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tfdbg_cli.formats.messages import schema, tensor_proto

CPU, OTHER = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"


def announced(index: int = 2, fetches: tuple[str, ...] = ("y:0",), feeds: tuple[str, ...] = ("x:0",)) -> bytes:
    """The event by which a call is announced."""
    fields = {
        "global_step": -1, "session_run_index": index, "executor_step_index": 0, "input_names": feeds,
        "output_names": fetches, "target_nodes": [], "grpc_path": "",
    }  # fmt: skip
    event = schema.Event(wall_time=1e15)
    event.log_message.message = json.dumps(fields)
    return bytes(event.SerializeToString())


def graph_def(*nodes: tuple[str, str, tuple[str, ...]], gated: bool = False) -> bytes:
    """A GraphDef of nodes by name, op type and inputs, each watched by a debug op."""
    made = schema.GraphDef()
    for name, op_type, inputs in nodes:
        made.node.add(name=name, op=op_type, input=inputs)
        copy = made.node.add(name=f"__copy_{name}_0", op="Copy", input=[name])
        watching = made.node.add(name=f"__dbg_{name}:0_0_DebugIdentity", op="DebugIdentity", input=[copy.name])
        watching.attr["gated_grpc"].b = gated
    return bytes(made.SerializeToString())


GRAPH = graph_def(("x", "_Arg", ()), ("y", "Log", ("x",)))


def graph_pieces(serialized: bytes = GRAPH, device: str = CPU, pieces: int = 1) -> list[bytes]:
    """The events of a GraphDef."""
    size = -(-len(serialized) // pieces)
    parts = [serialized[at * size : (at + 1) * size] for at in range(pieces)]
    heads = [f"77,{device},1000000|{at}|{pieces}|".encode() for at in range(pieces)]
    return [
        bytes(schema.Event(wall_time=1e15, graph_def=head + part).SerializeToString())
        for head, part in zip(heads, parts, strict=True)
    ]


def tensor(
    watch: str, value: Any, *, device: str = CPU, time_us: int = 1_000_000, pieces: int = 1, **label: Any
) -> list[bytes]:
    """The events of one tensor, `watch` being `node:slot:DebugOp`; `label` replaces what stands beside it."""
    array = np.asarray(value)
    head, content = tensor_proto.encode_parts(array)
    whole = schema.TensorProto.FromString(head + bytes(content))
    made = []
    for at in range(pieces):
        event = schema.Event(wall_time=float(time_us))
        part = event.summary.value.add(tag=watch.split(":")[0], node_name=watch)
        fields = {"device": device, "outputSlot": 0, "numChunks": pieces, "chunkIndex": at, **label}
        part.metadata.plugin_data.content = json.dumps(fields).encode()
        part.tensor.CopyFrom(whole)
        if whole.tensor_content:
            size = -(-len(whole.tensor_content) // pieces)
            part.tensor.tensor_content = whole.tensor_content[at * size : (at + 1) * size]
        elif pieces > 1:
            size = -(-len(whole.string_val) // pieces)
            del part.tensor.string_val[:]
            part.tensor.string_val.extend(whole.string_val[at * size : (at + 1) * size])
        made.append(bytes(event.SerializeToString()))
    return made
