"""Stores made of tensors of others, whose values stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import FoundByNode, Tensor, TensorStore, in_file, memory_of, recorded_summary
from tfdbg_cli.model.values import Value


class PartOfStore(FoundByNode):
    """Some of the tensors of `store`: those at `rows`, in that order."""

    def __init__(self, store: TensorStore, rows: Sequence[int]) -> None:
        super().__init__(store[row].name for row in rows)
        self._store = store
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        return self._store[self._rows[index]]

    def value(self, index: int) -> Value:
        return self._store.value(self._rows[index])

    def summary(self, index: int) -> Summary | None:
        return recorded_summary(self._store, self._rows[index])

    def memory(self, index: int) -> int | None:
        return memory_of(self._store, self._rows[index])

    def in_file(self, index: int) -> bool:
        return in_file(self._store, self._rows[index])


Row = tuple[TensorStore, int]


class GatheredTensors(FoundByNode):
    """Rows of other stores, in this order; executions are counted anew. Values stay where they are."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(store[row].name for store, row in rows)
        self._rows = rows
        self._executions: list[int] = []
        counts: dict[tuple[TensorName, str], int] = {}
        for store, row in rows:
            tensor = store[row]
            key = tensor.name, tensor.device
            self._executions.append(counts.get(key, 0))
            counts[key] = self._executions[-1] + 1

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        store, row = self._rows[index]
        tensor = store[row]
        execution = self._executions[index]
        return tensor if tensor.execution == execution else replace(tensor, execution=execution)

    def source(self, index: int) -> Row:
        """The store that holds the tensor at `index`, and its index there."""
        return self._rows[index]

    def value(self, index: int) -> Value:
        store, row = self._rows[index]
        return store.value(row)

    def summary(self, index: int) -> Summary | None:
        return recorded_summary(*self._rows[index])

    def memory(self, index: int) -> int | None:
        return memory_of(*self._rows[index])

    def in_file(self, index: int) -> bool:
        return in_file(*self._rows[index])
