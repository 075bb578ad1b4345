"""The times in a StepStats message (tensorflow/core/framework/step_stats.proto), TensorFlow's own or one of ours."""

from __future__ import annotations

import re
from typing import Any

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.profile import NodeTime, Profile

# NodeExecStats.timeline_label: `name = OpType(inputs)`; on a GPU stream just `name:OpType`.
_LABEL = re.compile(r"(?:=\s*|:)(?P<op>[A-Za-z_]\w*)(?:\(|$)")


def profile_of(step_stats: Any, graph: Graph) -> Profile:
    """The times in order of start. `graph` tells op types and which names are those of nodes."""
    entries = [(device.device, stats) for device in step_stats.dev_stats for stats in device.node_stats]
    first = min((_start(stats) for _, stats in entries), default=0.0)
    times = [
        NodeTime(
            node=_node_name(stats.node_name, graph),
            op_type=_op_type(stats, graph),
            device=device,
            start_us=_start(stats) - first,
            op_us=_us(stats, "op_end_rel") - _us(stats, "op_start_rel"),
            exec_us=_us(stats, "all_end_rel"),
        )
        for device, stats in entries
    ]
    return Profile(tuple(sorted(times, key=lambda time: time.start_us)))


def _start(stats: Any) -> float:
    return stats.all_start_nanos / 1000 if stats.all_start_nanos else float(stats.all_start_micros)


def _us(stats: Any, field: str) -> float:
    """A span in microseconds; finer where TensorFlow took it in nanoseconds."""
    nanos = getattr(stats, f"{field}_nanos")
    return nanos / 1000 if nanos else float(getattr(stats, f"{field}_micros"))


def _node_name(name: str, graph: Graph) -> str:
    """The node that `name` (with `:OpType` behind it on a GPU stream) means."""
    return name if name in graph else name.rsplit(":", 1)[0] if ":" in name else name


def _op_type(stats: Any, graph: Graph) -> str:
    node = graph.find(_node_name(stats.node_name, graph))
    if node is not None:
        return node.op_type
    match = _LABEL.search(stats.timeline_label or stats.node_name)
    return match["op"] if match else stats.node_name
