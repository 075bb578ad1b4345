"""What ran eagerly, in order: ops, and calls of functions; and how it is divided into runs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfdbg_cli.formats.event_sets.event_columns import ExecutionHeads, Texts, execution_heads
from tfdbg_cli.formats.event_sets.listing import HostFiles
from tfdbg_cli.formats.messages.packed_numbers import joined
from tfdbg_cli.model.values import Array

# The op type of a call of a function (function names of tensorflow/core/framework).
_FUNCTION = re.compile(r"^__(?:inference|forward|backward)_(?P<name>.+?)(?:_\d+)?$")


class Executed(NamedTuple):
    """One thing that ran eagerly: where its record lies, and when it had ended.

    `read` and `gave` are the ids of tensors, its inputs and its outputs; `devices` are those of the outputs.
    """

    host: int
    offset: int
    time: float
    op_type: str
    graph_id: str
    read: tuple[int, ...]
    gave: tuple[int, ...]
    devices: tuple[int, ...]

    @property
    def is_call(self) -> bool:
        """Whether a graph ran, and not one op."""
        return bool(self.graph_id) or _FUNCTION.match(self.op_type) is not None

    @property
    def function(self) -> str:
        """The name of the function that was called, as the program has it; of an op its type."""
        match = _FUNCTION.match(self.op_type)
        return match["name"] if match else self.op_type


class ExecutedOutput(NamedTuple):
    """What is told of an output of something that ran: where its record lies, when it was there, its device."""

    host: int
    offset: int
    time: float
    op_type: str
    device: int


class RunSpan(NamedTuple):
    """The executions of one run: from `first` to before `end`. A call stands alone, eager ops stand together.

    What graphs did behind the last call is a run without an execution, with `end` equal to `first`.
    """

    first: int
    end: int
    call: bool

    @property
    def is_open(self) -> bool:
        """Whether it is what graphs did behind the last call."""
        return self.call and self.end == self.first


class Executions:
    """The executions of a set, in order of time. `look` reads what was written since."""

    def __init__(self, hosts: Sequence[HostFiles]) -> None:
        self.files = [host.file("execution") for host in hosts]
        self._texts = Texts()
        self._columns = _joined([], [])
        self._calls: list[int] = []  # the places of calls of functions
        self._is_call: list[bool] = []  # by text, whether an op of that type is a call
        self._makers: tuple[Array, Array] | None = None
        self.damaged = 0

    def join(self, host: HostFiles) -> None:
        """Read what `host` writes, too, from the next look on."""
        self.files.append(host.file("execution"))

    def look(self) -> None:
        """Read the heads of what was written since the last time."""
        parts: list[ExecutionHeads] = []
        hosts: list[int] = []
        for host, file in enumerate(self.files):
            for some in file.stretches():
                heads, damaged = execution_heads(some, self._texts)
                parts.append(heads)
                hosts.append(host)
                self.damaged += damaged
        if not parts:
            return
        fresh = _joined(parts, hosts)
        if len(set(hosts)) > 1:
            fresh = fresh.taken(np.argsort(fresh.heads.times, kind="stable"))
        start = len(self)
        self._is_call += [_FUNCTION.match(text) is not None for text in self._texts.known[len(self._is_call) :]]
        has_graph = np.array([bool(text) for text in self._texts.known], bool)
        calls = np.array(self._is_call, bool)[fresh.heads.op_types] | has_graph[fresh.heads.graph_ids]
        self._calls += (np.flatnonzero(calls) + start).tolist()
        self._columns = _behind(self._columns, fresh)
        self._makers = None

    def __len__(self) -> int:
        return len(self._columns.hosts)

    @property
    def are_cut(self) -> bool:
        """Whether more was executed than the files tell, as far as they were read: one is cut off, or not there."""
        return any(file.ending or not file.path.exists() for file in self.files)

    def __getitem__(self, at: int) -> Executed:
        heads = self._columns.heads
        return Executed(
            int(self._columns.hosts[at]),
            int(heads.offsets[at]),
            float(heads.times[at]),
            self._texts.known[heads.op_types[at]],
            self._texts.known[heads.graph_ids[at]],
            heads.read[at],
            heads.gave[at],
            heads.devices[at],
        )

    def output(self, at: int, slot: int) -> ExecutedOutput:
        """The output with that number of the execution at the place `at`."""
        heads = self._columns.heads
        return ExecutedOutput(
            int(self._columns.hosts[at]),
            int(heads.offsets[at]),
            float(heads.times[at]),
            self._texts.known[heads.op_types[at]],
            heads.devices.number(at, slot, 0),
        )

    def op_types(self, first: int, end: int) -> list[str]:
        """The types of the ops at the places from `first` to before `end`."""
        known = self._texts.known
        return [known[text] for text in self._columns.heads.op_types[first:end].tolist()]

    def outputs(self, first: int, end: int) -> tuple[Array, Array]:
        """Of each tensor that was given there the place of the execution that gave it, and which output it is."""
        lengths = self._columns.heads.gave.lengths[first:end]
        makers = np.repeat(np.arange(first, end), lengths)
        return makers, np.arange(len(makers)) - np.repeat(np.cumsum(lengths) - lengths, lengths)

    def first_devices(self, first: int, end: int) -> list[tuple[int, int]]:
        """Of the executions there the host, and the number of the device of the first output; 0 without one."""
        devices = self._columns.heads.devices.taken(np.arange(first, end))
        there = devices.lengths > 0
        numbers = np.zeros(end - first, np.int64)
        numbers[there] = devices.flat[(devices.ends - devices.lengths)[there]]
        return list(zip(self._columns.hosts[first:end].tolist(), numbers.tolist(), strict=True))

    def records(self, makers: Array) -> tuple[Array, Array]:
        """The hosts that executed what is at the places `makers`, and where in their files the records begin."""
        return self._columns.hosts[makers], self._columns.heads.offsets[makers]

    def spans(self, *, behind: bool) -> list[RunSpan]:
        """The runs: each call, the eager ops between calls, and what graphs did `behind` the last call."""
        found: list[RunSpan] = []
        at = 0
        for call in self._calls:
            found += [RunSpan(at, call, call=False)] * (call > at) + [RunSpan(call, call + 1, call=True)]
            at = call + 1
        found += [RunSpan(at, len(self), call=False)] * (len(self) > at)
        return found + [RunSpan(len(self), len(self), call=True)] * behind

    def interval(self, span: RunSpan) -> tuple[float, float]:
        """Between which times graphs ran that belong to the call of `span`: behind the call before, up to its end."""
        before = bisect_right(self._calls, span.first - 1)
        start = self._time(self._calls[before - 1]) if before else float("-inf")
        return start, self._time(span.first) if span.end > span.first else float("inf")

    def _time(self, at: int) -> float:
        return float(self._columns.heads.times[at])

    def maker(self, tensor_id: int) -> tuple[int, int] | None:
        """Which execution gave the tensor with that id, and as which output; None where none did."""
        (at,), (slot,) = self._makers_of(np.array([tensor_id], np.int64))
        return None if at < 0 else (int(at), int(slot))

    def inputs(self, first: int, end: int) -> Iterator[list[tuple[int, int, int]]]:
        """Of each execution from `first` to before `end` the tensors it read: id, place of the maker, which output.

        The place is -1 of a tensor that no execution gave.
        """
        read = self._columns.heads.read.taken(np.arange(first, end))
        makers, slots = self._makers_of(read.flat)
        told = list(zip(read.flat.tolist(), makers.tolist(), slots.tolist(), strict=True))
        start = 0
        for stop in read.ends.tolist():
            yield told[start:stop]
            start = stop

    def _makers_of(self, tensor_ids: Array) -> tuple[Array, Array]:
        """Which execution gave each of the tensors (-1: none did), and as which output."""
        gave = self._columns.heads.gave
        if self._makers is None:
            order = np.argsort(gave.flat, kind="stable")
            self._makers = gave.flat[order], order
        ids, order = self._makers
        if not len(ids):
            return np.full(len(tensor_ids), -1), np.zeros(len(tensor_ids), np.int64)
        places = np.searchsorted(ids, tensor_ids, side="right") - 1  # of several the last
        numbers = order[np.maximum(places, 0)]
        known = (places >= 0) & (ids[places] == tensor_ids)
        makers = np.searchsorted(gave.ends, numbers, side="right")
        slots = numbers - (gave.ends[makers] - gave.lengths[makers])
        return np.where(known, makers, -1), slots


@dataclass(frozen=True, slots=True)
class _Columns:
    """Executions, and which host each is of."""

    hosts: Array
    heads: ExecutionHeads

    def taken(self, order: Array) -> _Columns:
        heads = self.heads
        return _Columns(
            self.hosts[order],
            ExecutionHeads(
                heads.offsets[order], heads.times[order], heads.op_types[order], heads.graph_ids[order],
                heads.read.taken(order), heads.gave.taken(order), heads.devices.taken(order),
            ),
        )  # fmt: skip


def _joined(parts: Sequence[ExecutionHeads], hosts: Sequence[int]) -> _Columns:
    """`parts`, each of the host beside it, one behind the other."""
    offsets, times, op_types, graph_ids = (
        np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)])
        for name, kind in (("offsets", np.int64), ("times", np.float64), ("op_types", np.int32),
                           ("graph_ids", np.int32))
    )  # fmt: skip
    read, gave, devices = (joined([getattr(part, name) for part in parts]) for name in ("read", "gave", "devices"))
    heads = ExecutionHeads(offsets, times, op_types, graph_ids, read, gave, devices)
    counts = np.array([len(part.offsets) for part in parts], np.int64)
    return _Columns(np.repeat(np.array(hosts, np.int32), counts), heads)


def _behind(first: _Columns, then: _Columns) -> _Columns:
    heads = _joined([first.heads, then.heads], [0, 0]).heads
    return _Columns(np.concatenate([first.hosts, then.hosts]), heads)
