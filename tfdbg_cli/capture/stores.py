"""Stores of tensors that are made of the tensors of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.gathered import GatheredTensors, PartOfStore, Row
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore, in_file
from tfdbg_cli.model.values import Array, known_array


def rows_of(store: TensorStore) -> list[Row]:
    """All rows of `store`."""
    return [(store, row) for row in range(len(store))]


def joined(first: TensorStore, second: TensorStore) -> GatheredTensors:
    """The tensors of `first`, and behind them those of `second`."""
    return GatheredTensors(rows_of(first) + rows_of(second))


def gathered(rows: Sequence[Row]) -> MemoryTensorStore:
    """The tensors at `rows` as they are, with their values, which need not stay where they were."""
    return MemoryTensorStore([store[row] for store, row in rows], [store.value(row) for store, row in rows])


def asked_for(store: TensorStore, request: CaptureRequest) -> TensorStore:
    """Those of the tensors in `store` that `request` asks for."""
    if not request.narrowed:
        return store
    admits = chooser(request).admits_named
    described = [store[row] for row in range(len(store))]
    return PartOfStore(
        store, [row for row, tensor in enumerate(described) if admits(tensor.node, tensor.op_type, tensor.dtype)]
    )


def known_value(store: TensorStore, name: TensorName) -> Array | None:
    """The value of a tensor where it was made first; None where it is not known."""
    rows = store.named(name.node, name.slot)
    return known_array(store.value(rows[0])) if rows else None


def without_files(run: Run) -> Run:
    """`run` with its values in memory if any is in a dump, since that is deleted when the run is over.

    The snapshot from before the run is dropped: kept for every run, these would take as much memory again.
    """
    return in_memory(replace(run, replayable=None, steppable=None))


def in_memory(run: Run) -> Run:
    """`run` with its values in memory if any is in a dump."""
    return replace(run, tensors=gathered(rows_of(run.tensors))) if lies_in_files(run) else run


def lies_in_files(run: Run) -> bool:
    """Whether any value of `run` is in a dump."""
    return any(in_file(run.tensors, index) for index in range(len(run.tensors)))
