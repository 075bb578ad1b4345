"""The arguments of a run of a function, with variables as they were before it: the run may have changed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tfdbg_cli.capture.functions.calling.kept_tensors import array_of
from tfdbg_cli.capture.functions.definition.effects import writes_variable
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_READ = "ReadVariableOp"
_CHANGED = NoValue(Lack.GONE, "The run changed this variable, and its value from before was not held.")


class GivenBefore(Mapping[str, Value]):
    """The values of a run's arguments by name; of a variable its value before the run.

    That is taken from the snapshot, or from what the run read before it changed the variable.
    """

    def __init__(self, run: Run, traced: TracedFunction) -> None:
        self._now: Mapping[str, Value] = run.call.feeds
        self._held = run.replayable if isinstance(run.replayable, CallSnapshot) else None
        self._graph = run.graph
        self._tensors = run.tensors
        self._traced = traced
        self._variables = {
            slot.argument.name: at for at, slot in enumerate(traced.slots) if slot.variable is not None
        }

    def __getitem__(self, name: str) -> Value:
        position = self._variables.get(name)
        if position is None:
            return self._now[name]
        changed = position in self._traced.snapshot_plan.written
        if changed and self._held is not None:
            try:
                return array_of(self._held.variable(position))
            except TfdbgError as error:
                return NoValue(Lack.GONE, error.message)
        read = self._read(name)
        if read is not None:
            return read
        return _CHANGED if changed else self._now[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def _read(self, name: str) -> Array | None:
        """What the run read of the variable before it changed it; None when it did not, or nobody knows."""
        for node, _ in self._graph.consumers(name):
            rows = self._tensors.named(node.name, 0) if node.op_type == _READ and not self._waits(node) else ()
            for row in rows:
                value: Value = self._tensors.value(row)
                if not isinstance(value, NoValue):
                    return value
        return None

    def _waits(self, node: Node) -> bool:
        """Whether `node` may come after a change: it waits for an op that writes a variable, or for a call."""
        for name in node.control_inputs:
            before = self._graph.find(name)
            if before is None or writes_variable(before.op_type) or before.op_type.endswith("Call"):
                return True
        return False


def with_variables_before(run: Run, traced: TracedFunction) -> Run:
    """`run` of the function `traced`, its variables given as they were before it."""
    return replace(run, call=replace(run.call, feeds=GivenBefore(run, traced)))
