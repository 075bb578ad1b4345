"""What ran eagerly, in order: ops, and calls of functions; and how it is divided into runs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from tfdbg_cli.formats.event_sets.listing import HostFiles
from tfdbg_cli.formats.event_sets.times import seconds
from tfdbg_cli.formats.messages import schema

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


class Span(NamedTuple):
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
        self._rows: list[Executed] = []
        self._calls: list[int] = []  # the places of calls of functions
        self._makers: dict[int, tuple[int, int]] = {}
        self._linked = 0
        self.damaged = 0

    def look(self) -> None:
        """Read the heads of what was written since the last time."""
        fresh: list[Executed] = []
        known: dict[str, str] = {}  # equal texts once
        places: dict[tuple[int, ...], tuple[int, ...]] = {}
        for host, file in enumerate(self.files):
            for record in file.scan():
                try:
                    event = schema.EventHead.FromString(record.content)
                except schema.DecodeError:
                    self.damaged += 1
                    continue
                head = event.execution
                op_type = known.setdefault(head.op_type, head.op_type)
                graph_id = known.setdefault(head.graph_id, head.graph_id)
                read, gave = tuple(head.input_tensor_ids), tuple(head.output_tensor_ids)
                gave = gave[: max(0, head.num_outputs)]
                time = seconds(event.wall_time)
                devices = tuple(head.output_tensor_device_ids)
                devices = places.setdefault(devices, devices)
                fresh.append(Executed(host, record.offset, time, op_type, graph_id, read, gave, devices))
        if any(row.host != fresh[0].host for row in fresh):
            fresh.sort(key=lambda row: row.time)
        start = len(self._rows)
        self._rows += fresh
        self._calls += [at for at, row in enumerate(fresh, start) if row.is_call]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def are_cut(self) -> bool:
        """Whether more was executed than the files tell, as far as they were read: one is cut off, or not there."""
        return any(file.ending or not file.path.exists() for file in self.files)

    def __getitem__(self, at: int) -> Executed:
        return self._rows[at]

    def spans(self, *, behind: bool) -> list[Span]:
        """The runs: each call, the eager ops between calls, and what graphs did `behind` the last call."""
        found: list[Span] = []
        at = 0
        for call in self._calls:
            found += [Span(at, call, call=False)] * (call > at) + [Span(call, call + 1, call=True)]
            at = call + 1
        found += [Span(at, len(self._rows), call=False)] * (len(self._rows) > at)
        return found + [Span(len(self._rows), len(self._rows), call=True)] * behind

    def interval(self, span: Span) -> tuple[float, float]:
        """Between which times graphs ran that belong to the call of `span`: behind the call before, up to its end."""
        before = bisect_right(self._calls, span.first - 1)
        start = self._rows[self._calls[before - 1]].time if before else float("-inf")
        return start, self._rows[span.first].time if span.end > span.first else float("inf")

    def maker(self, tensor_id: int) -> tuple[int, int] | None:
        """Which execution gave the tensor with that id, and as which output; None where none did."""
        for at in range(self._linked, len(self._rows)):
            for slot, given in enumerate(self._rows[at].gave):
                self._makers[given] = at, slot
        self._linked = len(self._rows)
        return self._makers.get(tensor_id)
