"""Capture by extra fetches: every tensor that the call computes is fetched beside its own, into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.session.dump_folders import to_keep
from tfdbg_cli.capture.session.invocation import Invocation
from tfdbg_cli.capture.session.program_graph import files_of, program_graph, tensor_name, tracebacks_of
from tfdbg_cli.capture.session.reach import Reach, chooser
from tfdbg_cli.formats.dump_writer import write_dump
from tfdbg_cli.model.runs import Call, Run, RunError
from tfdbg_cli.model.tensors import EMPTY_STORE, MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")
_REFERENCE = NoValue(Lack.OPAQUE, "This is a reference to a variable; what was read from it is at its readers.")


class PythonCapture:
    """One run whose tensors are held in memory, in topological order.

    A tensor that shares its memory with a reference variable (`use_resource=False`) can show the value from after
    an update in the same run, since TensorFlow does not copy it before.
    """

    def __init__(self, invocation: Invocation, plan: Plan, reached: Reach, notes: tuple[str, ...]) -> None:
        self._invocation = invocation
        self._directory = plan.directory
        self._notes = notes
        self._tensors = list(filter(_test(plan), reached.tensors))
        self._opaque = reached.opaque
        self._fetched: Sequence[Any] | None = None
        self._run: Run | None = None

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        wanted = [tensor for tensor in self._tensors if tensor.name not in self._opaque]
        result, self._fetched = self._invocation.with_extra(wanted)
        return result

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was fetched; nothing when the call failed."""
        graph = self._invocation.session.graph
        self._run = Run(
            call=call,
            tensors=EMPTY_STORE if self._fetched is None else self._store(iter(self._fetched)),
            graph=program_graph(graph),
            tracebacks=tracebacks_of(graph),
            error=error,
            notes=self._notes,
        )
        return self._run

    def _store(self, fetched: Any) -> MemoryTensorStore:
        values = [
            _without_value(tensor) if tensor.name in self._opaque else fetched_array(next(fetched))
            for tensor in self._tensors
        ]
        return MemoryTensorStore(list(map(described, self._tensors, values)), values)

    def finish(self, keep: bool) -> None:
        """Write the values to disk if they are to be kept.

        Raises:
            TfdbgError: the disk is full, or the folder cannot be written to.

        """
        if keep and self._directory is not None and self._run is not None:
            run = to_keep(self._run)
            write_dump(run, self._directory, shared=files_of(self._invocation.session.graph, run))


def _test(plan: Plan) -> Callable[[Any], bool]:
    """Whether `plan` asks for a tensor."""
    watch = plan.watch
    if watch is None:
        return chooser(plan.capture).admits
    return lambda tensor: watch.admits(tensor.op.name, tensor.op.type, tensor.dtype.name)


def _without_value(tensor: Any) -> NoValue:
    return _HANDLE if tensor.dtype.base_dtype.name in {"resource", "variant"} else _REFERENCE


def described(tensor: Any, value: Value) -> Tensor:
    """The description of a tf.Tensor in a graph whose value is at hand."""
    return describe(
        tensor_name(tensor),
        value,
        device=tensor.device,
        op_type=tensor.op.type,
        dtype=tensor.dtype.base_dtype.name,
    )


def fetched_array(value: Any) -> Array:
    """What Session.run gives for a tensor (an array, a NumPy scalar, bytes for a string) as an array."""
    if isinstance(value, bytes | str):
        array = np.empty((), np.dtype(object))
        array[()] = value
        return array
    return np.asarray(value)


def store_of(values: Mapping[Any, Array]) -> MemoryTensorStore:
    """A store of the values of a few tf.Tensors (keyed by `tensor.ref()`)."""
    tensors = [described(reference.deref(), value) for reference, value in values.items()]
    return MemoryTensorStore(tensors, list(values.values()))
