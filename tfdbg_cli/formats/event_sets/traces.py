"""What ran inside graphs: which output of which op, when, and where its record lies. Read as far as is asked."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfdbg_cli.formats.event_sets.event_columns import trace_heads
from tfdbg_cli.formats.event_sets.listing import HostFiles
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.event_sets.times import seconds
from tfdbg_cli.formats.messages import schema


class TraceKey(NamedTuple):
    """What tells tensors of graphs apart: the graph with that id, an output of one of its ops, a device."""

    graph_id: str
    op_name: str
    slot: int
    device: str


class TraceRow(NamedTuple):
    """One tensor that a graph made."""

    key: TraceKey
    time: float
    file: RecordFile
    offset: int


class _HostTraces:
    """The traces of one host. A file may be long: a row takes some bytes, and texts stand once."""

    def __init__(self, file: RecordFile) -> None:
        self.file = file
        self.keys: list[TraceKey] = []
        self._numbers: dict[tuple[str, str, int, str], int] = {}
        self._key_of = array("L")
        self._offsets = array("Q")
        self._times = array("d")
        self._until = array("d")  # the latest time up to each row: threads write beside each other
        self.damaged = 0

    def read_to(self, time: float) -> None:
        """Read on until all up to `time` is known."""
        if self._until and self._until[-1] > time:
            return
        for some in self.file.stretches():
            heads, damaged = trace_heads(some)
            self.damaged += damaged
            for key in heads.keys:
                number = self._numbers.get(key)
                if number is None:
                    number = self._numbers[key] = len(self.keys)
                    self.keys.append(TraceKey(*key))
                self._key_of.append(number)
            self._offsets.frombytes(heads.offsets.astype(np.uint64).tobytes())
            self._times.frombytes(heads.times.tobytes())
            latest = self._until[-1] if self._until else 0.0
            self._until.frombytes(np.maximum.accumulate(np.maximum(heads.times, latest)).tobytes())
            if self._until and self._until[-1] > time:
                return

    def between(self, start: float, end: float) -> range:
        """The rows behind `start`, up to `end`."""
        self.read_to(end)
        return range(bisect_right(self._until, start), bisect_right(self._until, end))

    def any_behind(self, time: float) -> bool:
        """Whether there is a row behind `time`: the last record tells, without those before it."""
        offset = self.file.last_offset()
        if offset is not None:
            try:
                return seconds(schema.EventHead.FromString(self.file.read(offset)).wall_time) > time
            except (DamagedRecordError, schema.DecodeError):
                pass  # then all of them are asked
        return len(self.between(time, math.inf)) > 0

    def row(self, at: int) -> TraceRow:
        return TraceRow(self.keys[self._key_of[at]], self._times[at], self.file, self._offsets[at])


class Traces:
    """The traces of all hosts of a set."""

    def __init__(self, hosts: Sequence[HostFiles]) -> None:
        self._hosts = [_HostTraces(host.file("graph_execution_traces")) for host in hosts]

    def join(self, host: HostFiles) -> None:
        """Read what `host` writes, too."""
        self._hosts.append(_HostTraces(host.file("graph_execution_traces")))

    @property
    def files(self) -> list[RecordFile]:
        """The files, one a host."""
        return [host.file for host in self._hosts]

    @property
    def damaged(self) -> int:
        """How many records could not be read."""
        return sum(host.damaged for host in self._hosts)

    def between(self, start: float, end: float) -> list[TraceRow]:
        """What graphs made behind the time `start` and up to `end`, in order."""
        found = [host.row(at) for host in self._hosts for at in host.between(start, end)]
        if len(self._hosts) > 1:
            found.sort(key=lambda row: row.time)
        return found

    def any_behind(self, time: float) -> bool:
        """Whether a graph made something behind `time`."""
        return any(host.any_behind(time) for host in self._hosts)
