"""The tensors of a run of an event set, read record by record when somebody looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tfdbg_cli.formats.event_sets.health import Mode, Told, not_recorded, told
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.event_sets.times import MICROSECONDS
from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import FoundByNode, Tensor
from tfdbg_cli.model.values import NoValue, Value

_LONG = 1 << 20  # bytes of a record
_NOT_HERE = not_recorded(Mode.FULL_TENSOR)


class SavedTensor(NamedTuple):
    """A tensor and the record that tells of it: of an output of an execution, or (None) of a trace."""

    name: TensorName
    op_type: str
    device: str
    time: float
    file: RecordFile
    offset: int
    output: int | None


class EventTensorStore(FoundByNode):
    """Tensors in records, in this order. Numbers stand for values where they were `counted`."""

    def __init__(self, rows: Sequence[SavedTensor], *, counted: bool) -> None:
        super().__init__(row.name for row in rows)
        self._counted = counted
        self._rows = rows
        self._known: dict[int, Told] = {}
        self._executions: list[int] = []
        self._last: tuple[tuple[Path, int], Any] | None = None
        seen: dict[tuple[TensorName, str], int] = {}
        for row in rows:
            key = row.name, row.device
            self._executions.append(seen.get(key, 0))
            seen[key] = self._executions[-1] + 1

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        row, facts = self._rows[index], self._facts(index)
        return Tensor(
            name=row.name,
            device=row.device,
            execution=self._executions[index],
            dtype=facts.dtype,
            shape=facts.shape,
            nbytes=facts.nbytes,
            time_us=int(row.time * MICROSECONDS),
            op_type=row.op_type,
        )

    def device(self, index: int) -> str:
        return self._rows[index].device

    def value(self, index: int) -> Value:
        known = self._known.get(index % len(self._rows))
        if known is not None and isinstance(known.value, NoValue) and known.value is not _NOT_HERE:
            return known.value
        return self._read(index).value

    def summary(self, index: int) -> Summary | None:
        return self._facts(index).summary if self._counted else None

    def _facts(self, index: int) -> Told:
        """All that is told of the tensor but its value, which may be large."""
        place = index % len(self._rows)
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

    def _event(self, row: SavedTensor) -> Any:
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
