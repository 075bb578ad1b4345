"""The ops that a host ran: the name of an event tells what it is, so most events are passed over unparsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages
from tfdbg_cli.formats.profiles.event_names import EAGER_KERNEL, eager_op, is_name_of_xla, node_and_op
from tfdbg_cli.formats.profiles.facts import XLA, Step
from tfdbg_cli.formats.profiles.plane_reader import PlaneReader
from tfdbg_cli.formats.profiles.planes import event_at, events_of, head_of
from tfdbg_cli.model.profile import NodeTime

_OF_XLA, _STEP = "hlo_op", "step_num"  # statistics
_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the events of one name are."""

    node: str = ""
    op_type: str = ""
    eager: bool = False
    kernel: bool = False
    step: bool = False


_NOTHING = _Kind()


@dataclass
class HostPlane(PlaneReader):
    """Reads the ops of one host."""

    _kinds: dict[int, _Kind] = field(default_factory=dict, init=False)

    def times(self, damages: Damages) -> Iterator[NodeTime]:
        """The executions, line by line."""
        for line in self.plane.lines:
            yield from self._line(line, damages)

    def _line(self, line: ByteSpan, damages: Damages) -> Iterator[NodeTime]:
        begin = head_of(self.data, line).timestamp_ns / 1000
        eager: NodeTime | None = None  # the last one: what lies within it is a part of it
        kinds = self._kinds
        for number, start, end in events_of(self.data, line, damages):
            self.found.events += 1
            kind = kinds.get(number)
            if kind is None:
                kind = kinds[number] = self._kind(number, start, end)
            if kind is _NOTHING:
                continue
            if self.found.left_out and not kind.step:  # as many as are listed were read
                self.found.left_out += bool(kind.op_type)
                continue
            event = event_at(self.data, start, end)
            if event is None:
                damages.add("an event", start, "the bytes are none")
                continue
            if event.num_occurrences:  # a sum over many
                continue
            at, spent = begin + event.offset_ps / 1e6, event.duration_ps / 1e6
            if kind.step:
                self._note_step(kind, event.stats, spent)
            elif kind.eager:
                if eager is not None:
                    yield eager
                eager = NodeTime(kind.op_type, kind.op_type, self.plane.name, at, spent, spent)
            elif eager is not None and _is_its_kernel(kind, at, spent, eager):
                eager = replace(eager, op_us=spent)
            elif kind.op_type:
                yield NodeTime(kind.node, kind.op_type, self.plane.name, at, spent, spent)
        if eager is not None:
            yield eager

    def _note_step(self, kind: _Kind, stats: Iterable[Any], spent: float) -> None:
        number = self.plane.statistic(stats, _STEP)
        if number.isdecimal() and len(self.found.steps) < _MOST_STEPS:
            self.found.steps.append(Step(kind.node, int(number), spent))

    def _kind(self, number: int, start: int, end: int) -> _Kind:
        """What the events called `number` are; where the name does not tell, the first of them does."""
        name = self.plane.events.get(number, "")
        named = node_and_op(name, self.is_op)
        if named is not None:
            return _Kind(*named)
        if not self.all_ops:
            return _NOTHING
        if name == EAGER_KERNEL:
            return _Kind(kernel=True)
        op_type = eager_op(name, self.is_op)
        if op_type:
            return _Kind(op_type=op_type, eager=True)
        event = event_at(self.data, start, end)
        if event is None:
            return _NOTHING
        if self.plane.statistic(event.stats, _STEP):
            return _Kind(name, step=True)
        if is_name_of_xla(name) and self.plane.statistic(event.stats, _OF_XLA) == name:
            return _Kind(name, XLA)
        return _NOTHING


def _is_its_kernel(kind: _Kind, at: float, spent: float, eager: NodeTime) -> bool:
    """Whether the event is the computation of the `eager` op: older versions call it as they do in executors."""
    within = eager.start_us <= at and at + spent <= eager.start_us + eager.exec_us
    return within and (kind.kernel or kind.op_type == eager.op_type)
