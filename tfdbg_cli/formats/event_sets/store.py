"""The tensors of a run of an event set, read record by record when somebody looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfdbg_cli.formats.event_sets.health import DebugMode, Told, not_recorded, told
from tfdbg_cli.formats.event_sets.health_columns import HealthColumns, TensorRecords
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.event_sets.times import MICROSECONDS
from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import FoundByNode, Tensor
from tfdbg_cli.model.values import NoValue, Value

_LONG = 1 << 20  # bytes of a record
_MANY = 64  # tensors whose numbers are read together
_NOT_HERE = not_recorded(DebugMode.FULL_TENSOR)


class RecordedTensor(NamedTuple):
    """A tensor and the record that tells of it: of an output of an execution, or (None) of a trace."""

    name: TensorName
    op_type: str
    device: str
    time: float
    file: RecordFile
    offset: int
    output: int | None


class EventSetTensors(Protocol):
    """The tensors of a run: each made when it is looked at, where there may be very many."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> RecordedTensor: ...

    def names(self) -> Iterable[TensorName]:
        """The names of all of them."""
        ...

    def execution(self, index: int) -> int:
        """The execution number of the tensor at `index`: how many of its name came before it."""
        ...

    def records(self) -> TensorRecords:
        """Where in the files the records of these tensors lie."""
        ...


class ListedTensors:
    """The tensors of a call: what its graphs made, and what it returned."""

    def __init__(self, rows: Sequence[RecordedTensor]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> RecordedTensor:
        return self._rows[index]

    def names(self) -> Iterable[TensorName]:
        return (row.name for row in self._rows)

    def execution(self, index: int) -> int:
        return self._executions[index]

    @cached_property
    def _executions(self) -> list[int]:
        seen: dict[tuple[TensorName, str], int] = {}
        found = []
        for row in self._rows:
            key = row.name, row.device
            found.append(seen.get(key, 0))
            seen[key] = found[-1] + 1
        return found

    def records(self) -> TensorRecords:
        files = {row.file.path: row.file for row in self._rows}
        numbers = {path: number for number, path in enumerate(files)}
        return TensorRecords(
            list(files.values()),
            np.array([numbers[row.file.path] for row in self._rows], np.int64),
            np.array([row.offset for row in self._rows], np.int64),
            np.array([-1 if row.output is None else row.output for row in self._rows], np.int64),
        )


class EventTensorStore:
    """Tensors in records, in this order. Numbers stand for values where they were `counted`."""

    def __init__(self, rows: EventSetTensors, *, counted: bool) -> None:
        self._counted = counted
        self._rows = rows
        self._known: dict[int, Told] = {}
        self._last: tuple[tuple[Path, int], Any] | None = None
        self._described: tuple[int, Tensor] | None = None  # the one asked for last: a row asks for it several times

    @cached_property
    def _found(self) -> FoundByNode:
        return FoundByNode(self._rows.names())

    @cached_property
    def _columns(self) -> HealthColumns | None:
        """The numbers of all; None where there are none, or so few that each is as well looked at by itself."""
        many = self._counted and len(self._rows) >= _MANY
        return HealthColumns(self._rows.records()) if many else None

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        return self._found.named(node, slot)

    def nodes(self) -> Sequence[str]:
        return self._found.nodes()

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        index = range(len(self._rows))[index]
        known = self._described
        if known is None or known[0] != index:
            known = self._described = index, self._tensor(index)
        return known[1]

    def _tensor(self, index: int) -> Tensor:
        row, facts = self._rows[index], self._facts(index)
        return Tensor(
            name=row.name,
            device=row.device,
            execution=self._rows.execution(index),
            dtype=facts.dtype,
            shape=facts.shape,
            nbytes=facts.nbytes,
            time_us=int(row.time * MICROSECONDS),
            op_type=row.op_type,
        )

    def device(self, index: int) -> str:
        return self._rows[index].device

    def value(self, index: int) -> Value:
        known = self._facts(index) if self._counted else self._known.get(index % len(self._rows))
        if known is not None and isinstance(known.value, NoValue) and known.value is not _NOT_HERE:
            return known.value
        return self._read(index).value

    def summary(self, index: int) -> Summary | None:
        return self._facts(index).summary if self._counted else None

    def finite(self, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
        """Those of `indices` that are finite by their numbers, some at a time, with the share that is done."""
        if self._columns is not None:
            yield from self._columns.finite(indices)

    def _facts(self, index: int) -> Told:
        """All that is told of the tensor but its value, which may be large."""
        place = index % len(self._rows)
        told_so = None if self._columns is None else self._columns.told(place)
        if told_so is not None:
            return told_so
        known = self._known.get(place)
        if known is None:
            known = self._read(place)
            if not isinstance(known.value, NoValue):
                known = replace(known, value=_NOT_HERE)
            self._known[place] = known
        return known

    def _read(self, index: int) -> Told:
        row = self._rows[index]
        try:
            event = self._event(row)
        except DamagedRecordError as error:
            return Told(tensor_proto.damaged(str(error)))
        except schema.DecodeError:
            return Told(tensor_proto.damaged(str(row.file.damage(row.offset, "it is no event"))))
        except MemoryError:
            return Told(NoValue(_NOT_HERE.lack, "There is not enough memory to load this tensor."))
        if row.output is None:
            trace = event.graph_execution_trace
            return told(trace.tensor_debug_mode, trace.tensor_proto)
        protos = event.execution.tensor_protos
        return told(event.execution.tensor_debug_mode, protos[row.output] if row.output < len(protos) else None)

    def _event(self, row: RecordedTensor) -> Any:
        """The record of `row`; that of an execution is kept for its other outputs, unless it is long.

        Raises:
            DamagedRecordError: it is not what was written.
            DecodeError: it is no event.

        """
        place = row.file.path, row.offset
        if self._last is not None and self._last[0] == place:
            return self._last[1]
        content = row.file.read(row.offset)
        event = schema.DebugEvent.FromString(content)
        self._last = (place, event) if row.output is not None and len(content) < _LONG else None
        return event
