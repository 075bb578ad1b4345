"""What the records of very many tensors tell of them in numbers, read many records at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.formats.event_sets.event_columns import (
    EXECUTION,
    EXECUTION_PROTOS,
    EXECUTION_WIRES,
    TRACE,
    TRACE_WIRES,
    event_wires,
)
from tfdbg_cli.formats.event_sets.health import LARGEST, LENGTHS, DebugMode, Told, not_recorded, of_numbers
from tfdbg_cli.formats.event_sets.records import RecordFile
from tfdbg_cli.formats.messages.field_columns import FieldColumns
from tfdbg_cli.formats.messages.framed_records import FramedRecords
from tfdbg_cli.formats.messages.wire import BYTES, VARINT
from tfdbg_cli.model.values import Array

_NEAR, _MANY = 1 << 16, 1 << 20  # bytes read at a record: for those beside it, or since all are wanted
_ASKED = 1 << 14  # tensors told of at once
_DOUBLE = 2  # DT_DOUBLE of tensorflow/core/framework/types.proto
_PROTO_WIRES = {1: VARINT, 2: BYTES, 3: VARINT, 4: BYTES}
_MODE_OF_EXECUTION, _MODE_OF_TRACE, _PROTO_OF_TRACE = 6, 4, 5
_BAD = {DebugMode.CURT_HEALTH: slice(1, 2), DebugMode.CONCISE_HEALTH: slice(2, 5), DebugMode.FULL_HEALTH: slice(5, 8)}


@dataclass(frozen=True, slots=True)
class TensorRecords:
    """Where the records of tensors lie: in `files[which]`, from `offsets` on.

    `outputs` are those of executions; a trace tells of one tensor alone, and has -1 there.
    """

    files: Sequence[RecordFile]
    which: Array
    offsets: Array
    outputs: Array


class HealthColumns:
    """The numbers in `records`. Of what is damaged, or not as TensorFlow writes it, nothing is told here."""

    def __init__(self, records: TensorRecords) -> None:
        count = len(records.which)
        self._records = records
        self._reached = -1  # where the records that were read last end
        self._asked = np.zeros(count, bool)
        self._modes = np.zeros(count, np.uint8)  # 0 where nothing is told
        self._lacking = np.zeros(count, bool)
        self._counts = np.zeros((count, max(LENGTHS.values())), np.int64)
        order = np.lexsort((records.offsets, records.which))
        ends = np.searchsorted(records.which[order], np.arange(len(records.files)), side="right")
        self._rows = np.split(order, ends[:-1])  # of each file, in the order of its records

    def told(self, index: int) -> Told | None:
        """What is told of the tensor at `index`; None where its record has to be looked at by itself."""
        if not self._asked[index]:
            goes_on = int(self._records.offsets[index]) == self._reached  # one row after the other is looked at
            self._ask(index, _MANY if goes_on else _NEAR)
        if not self._modes[index]:
            return None
        mode = DebugMode(int(self._modes[index]))
        if self._lacking[index]:
            return Told(not_recorded(mode))
        return of_numbers(mode, self._counts[index, : LENGTHS[mode]].tolist())

    def finite(self, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
        """Those of `indices` that are told to be finite, some at a time, with the share that is done."""
        wanted = np.asarray(indices, np.int64)
        for start in range(0, len(wanted), _ASKED):
            part = wanted[start : start + _ASKED]
            for index in part.tolist():
                if not self._asked[index]:
                    self._ask(index, _MANY)
            fine = np.zeros(len(part), bool)
            for mode, bad in _BAD.items():
                of_mode = (self._modes[part] == mode) & ~self._lacking[part]
                fine |= of_mode & ~self._counts[part][:, bad].any(axis=1)
            yield part[fine].tolist(), min(1.0, (start + _ASKED) / len(wanted))

    def _ask(self, index: int, size: int) -> None:
        """Read the record of the tensor at `index`, and those of others behind it in the same `size` bytes."""
        self._asked[index] = True
        records, which = self._records, int(self._records.which[index])
        start = int(records.offsets[index])
        rows = self._rows[which]
        first, last = np.searchsorted(records.offsets[rows], [start, start + size])
        rows = rows[first:last]
        some = records.files[which].around(np.unique(records.offsets[rows]), size)
        if not len(some):
            return
        self._reached = some.end
        rows = rows[np.isin(records.offsets[rows], some.offsets)]
        self._asked[rows] = True
        places = np.searchsorted(some.offsets, records.offsets[rows])
        told = some.sound()[places]
        self._take(some, rows[told], places[told])

    def _take(self, some: FramedRecords, rows: Array, places: Array) -> None:
        """Take over what `some` records tell of the tensors at `rows`, whose records are at `places`."""
        begins, ends = some.spans
        outputs = self._records.outputs[rows]
        what, wires, repeated = (
            (TRACE, TRACE_WIRES, frozenset[int]())
            if (outputs < 0).all()
            else (EXECUTION, EXECUTION_WIRES, frozenset({EXECUTION_PROTOS}))
        )
        events = FieldColumns(some.octets, begins, ends, event_wires(what))
        heads = FieldColumns(some.octets, *events.places(what), wires, repeated)
        modes = heads.numbers(_MODE_OF_TRACE if what == TRACE else _MODE_OF_EXECUTION)
        sound = ~events.odd & events.has(what) & ~heads.odd & np.isin(modes, list(LENGTHS))
        rows, places, outputs = rows[sound[places]], places[sound[places]], outputs[sound[places]]
        if what == TRACE:
            proto_begins, proto_ends = (column[places] for column in heads.places(_PROTO_OF_TRACE))
        else:
            proto_begins, proto_ends = _protos(heads, places, outputs)
        self._take_protos(some.octets, rows, modes[places], proto_begins, proto_ends)

    def _take_protos(self, octets: Array, rows: Array, modes: Array, begins: Array, ends: Array) -> None:
        """Take over the numbers in the TensorProtos that lie there, as far as they are those of the mode."""
        protos = FieldColumns(octets, begins, ends, _PROTO_WIRES)
        lacking = ~protos.odd & (protos.numbers(1) == 0)
        self._modes[rows[lacking]], self._lacking[rows[lacking]] = modes[lacking], True
        content, content_ends = protos.places(4)
        shape, shape_ends = protos.places(2)
        sound = ~protos.odd & (protos.numbers(1) == _DOUBLE) & (shape_ends - shape == 4)
        for mode, length in LENGTHS.items():
            at = np.flatnonzero(sound & (modes == mode) & (content_ends - content == 8 * length))
            # One axis of that length: field 2 of the shape holds two bytes, which are its field 1.
            at = at[(octets[shape[at][:, None] + np.arange(4)] == (0x12, 2, 0x08, length)).all(axis=1)]
            numbers = octets[content[at][:, None] + np.arange(8 * length)].view("<f8")
            counts = np.where((numbers >= 0) & (numbers < LARGEST), numbers, 0).astype(np.int64)
            self._modes[rows[at]] = mode
            self._counts[rows[at], :length] = counts


def _protos(heads: FieldColumns, places: Array, outputs: Array) -> tuple[Array, Array]:
    """Where the TensorProtos of these outputs of the executions at `places` lie; of one without it, nowhere."""
    protos = heads.repeated(EXECUTION_PROTOS)
    if not len(protos.rows):
        return np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    width = max(int(protos.order.max()), int(outputs.max(initial=0))) + 1
    keys = protos.rows * width + protos.order
    order = np.argsort(keys)
    wanted = places * width + outputs
    found = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    there = keys[order][found] == wanted
    at = order[found]
    return np.where(there, protos.begins[at], 0), np.where(there, protos.ends[at], 0)
