"""The tensors of a run of eager ops, of which there may be very many: each is made when it is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.executions import RunSpan
from tfdbg_cli.formats.event_sets.health_columns import TensorRecords
from tfdbg_cli.formats.event_sets.store import RecordedTensor
from tfdbg_cli.formats.event_sets.tracebacks import RecordAt
from tfdbg_cli.model.names import TensorName


class EagerTensors:
    """What the executions of `span`, the run at `run` of the set, gave."""

    def __init__(self, events: EventSet, run: int, span: RunSpan) -> None:
        self._events = events
        self._run = run
        self._first = span.first
        self._makers, self._slots = events.executions.outputs(span.first, span.end)

    @cached_property
    def _nodes(self) -> list[str]:
        return self._events.node_names(self._run)

    def __len__(self) -> int:
        return len(self._makers)

    def __getitem__(self, index: int) -> RecordedTensor:
        at, slot = int(self._makers[index]), int(self._slots[index])
        output = self._events.executions.output(at, slot)
        return RecordedTensor(
            TensorName(self._nodes[at - self._first], slot),
            output.op_type,
            self._events.graphs.device(output.host, output.device),
            output.time,
            self._events.executions.files[output.host],
            output.offset,
            slot,
        )

    def names(self) -> Iterable[TensorName]:
        nodes, makers = self._nodes, (self._makers - self._first).tolist()
        return (TensorName(nodes[at], slot) for at, slot in zip(makers, self._slots.tolist(), strict=True))

    def execution(self, index: int) -> int:
        return 0  # each op that ran has a name of its own

    def records(self) -> TensorRecords:
        hosts, offsets = self._events.executions.records(self._makers)
        return TensorRecords(self._events.executions.files, hosts, offsets, self._slots)


class EagerPlaces(Mapping[str, RecordAt]):
    """By the names of their nodes, which record tells of the executions of `span`, the run at `run` of the set."""

    def __init__(self, events: EventSet, run: int, span: RunSpan) -> None:
        self._events = events
        self._run = run
        self._span = span

    @cached_property
    def _nodes(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self._events.node_names(self._run), self._span.first)}

    def __len__(self) -> int:
        return self._span.end - self._span.first

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __getitem__(self, name: str) -> RecordAt:
        executed = self._events.executions[self._nodes[name]]
        return self._events.executions.files[executed.host], executed.offset
