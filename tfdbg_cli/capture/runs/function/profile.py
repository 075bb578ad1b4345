"""Capture of times instead of values: one function call under TensorFlow's profiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfdbg_cli.analysis.runtime_names import RuntimeNames
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Run

_OP_OF_KERNEL = "tf_op"  # the statistic by which an event on an accelerator names the op that it works for
_NOTE = (
    "This run was profiled: it has times and no values. Op and exec time are the same: "
    "TensorFlow's profiler does not tell them apart, nor what XLA compiled."
)
_BUSY = "Another profile is being made, so this run has no times: TensorFlow makes one at a time."


class FunctionProfile:
    """One call `plain()` of `traced` with the time of every node."""

    def __init__(self, plain: Callable[[], RunResult], traced: TracedFunction) -> None:
        self._plain = plain
        self._traced = traced
        self._space: Any = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        with tempfile.TemporaryDirectory(prefix="tfdbg_") as folder:
            try:
                tf.profiler.experimental.start(folder)
            except (tf.errors.AlreadyExistsError, tf.errors.UnavailableError):
                return self._plain()
            try:
                return self._plain()
            finally:
                tf.profiler.experimental.stop()
                for path in Path(folder).rglob("*.xplane.pb"):
                    self._space = compat.profile_space(path.read_bytes())

    def run(self, call: Call, error: RunError | None) -> Run:
        """The times that were taken."""
        traced = self._traced
        profile = None if error or self._space is None else profile_of(self._space, traced.graph)
        notes = (_NOTE if self._space is not None else _BUSY,)
        return Run(call, graph=traced.graph, tracebacks=traced.tracebacks, error=error, profile=profile, notes=notes)

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""


def profile_of(space: Any, graph: Graph) -> Profile:
    """The times in an XSpace message (tsl/profiler/protobuf/xplane.proto), in order of start.

    An op on the host is an event named `node:OpType`; a kernel on an accelerator tells its op by a statistic.
    """
    names = RuntimeNames(graph)
    times = [time for plane in space.planes for time in _times(plane, graph, names)]
    first = min((time.start_us for time in times), default=0.0)
    found = [
        NodeTime(time.node, time.op_type, time.device, time.start_us - first, time.op_us, time.exec_us)
        for time in times
    ]
    return Profile(tuple(sorted(found, key=lambda time: time.start_us)))


def _times(plane: Any, graph: Graph, names: RuntimeNames) -> Iterator[NodeTime]:
    accelerator = plane.name.startswith("/device:")
    for line in plane.lines:
        for event in line.events:
            text = _statistic(plane, event) if accelerator else plane.event_metadata[event.metadata_id].name
            name, colon, op_type = text.rpartition(":")
            if not colon or not name or compat.op_definition(op_type) is None:
                continue
            start = line.timestamp_ns / 1000 + event.offset_ps / 1e6
            spent = event.duration_ps / 1e6
            node = names.node(name)
            found = graph.find(node)
            device = plane.name if accelerator else found.device if found is not None else ""
            yield NodeTime(node, op_type, device, start, spent, spent)


def _statistic(plane: Any, event: Any) -> str:
    for statistic in event.stats:
        if plane.stat_metadata[statistic.metadata_id].name == _OP_OF_KERNEL:
            return str(statistic.str_value or plane.stat_metadata[statistic.ref_value].name)
    return ""
