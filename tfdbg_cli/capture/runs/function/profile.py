"""Capture of times instead of values: one function call under TensorFlow's profiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import tensorflow as tf

from tfdbg_cli.analysis.layers.runtime_names import RuntimeNames
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.formats.profiles.times import executor_times
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.runs import Run

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
        self._written: bytes | None = None

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
                    self._written = path.read_bytes()

    def run(self, call: Call, error: RunError | None) -> Run:
        """The times that were taken."""
        traced = self._traced
        profile = None if error or self._written is None else profile_of(self._written, traced.graph, _only_device())
        notes = (_NOTE if self._written is not None else _BUSY,)
        return Run(call, graph=traced.graph, tracebacks=traced.tracebacks, error=error, profile=profile, notes=notes)

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""


def _only_device() -> str:
    """The one device that there is, by its whole name; empty where there are several."""
    devices = tf.config.list_logical_devices()
    return f"/job:localhost/replica:0/task:0{devices[0].name}" if len(devices) == 1 else ""


def profile_of(data: bytes, graph: Graph, only_device: str = "") -> Profile:
    """The times in what TensorFlow's profiler wrote, in order of start, by the names and devices of `graph`.

    What the program has put on no device ran on the `only_device`. Of several that is not known: its time was taken
    on the host, which is told then.
    """
    names = RuntimeNames(graph)
    found = []
    for time in executor_times(data, lambda op_type: compat.op_definition(op_type) is not None):
        node = graph.find(names.node(time.node))
        host = "" if node is None else node.device
        device = time.device if time.device.startswith("/device:") else host or only_device or time.device
        found.append(replace(time, node=names.node(time.node), device=device))
    return Profile(tuple(found))
