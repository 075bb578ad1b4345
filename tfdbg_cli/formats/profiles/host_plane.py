"""The ops that a host ran: the name of an event tells what it is, so most events are passed over unparsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tfdbg_cli.formats.graph_files.mended import Damages, Span
from tfdbg_cli.formats.profiles.event_names import EAGER_KERNEL, IsOp, eager_op, is_name_of_xla, node_and_op
from tfdbg_cli.formats.profiles.facts import XLA, ProfileFacts, Step
from tfdbg_cli.formats.profiles.planes import Plane, event_at, events_of, head_of
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


class HostPlane:
    """Reads the ops of one host into `found`. Without `all_ops` only those that executors ran are wanted."""

    def __init__(self, data: bytes, plane: Plane, found: ProfileFacts, is_op: IsOp, *, all_ops: bool) -> None:
        self._data = data
        self._plane = plane
        self._found = found
        self._is_op = is_op
        self._all_ops = all_ops
        self._kinds: dict[int, _Kind] = {}

    def times(self, damages: Damages) -> Iterator[NodeTime]:
        """The executions, line by line."""
        for line in self._plane.lines:
            yield from self._line(line, damages)

    def _line(self, line: Span, damages: Damages) -> Iterator[NodeTime]:
        begin = head_of(self._data, line).timestamp_ns / 1000
        eager: NodeTime | None = None  # the last one: what lies within it is a part of it
        kinds = self._kinds
        for number, start, end in events_of(self._data, line, damages):
            self._found.events += 1
            kind = kinds.get(number)
            if kind is None:
                kind = kinds[number] = self._kind(number, start, end)
            if kind is _NOTHING:
                continue
            if self._found.left_out and not kind.step:  # as many as are listed were read
                self._found.left_out += bool(kind.op_type)
                continue
            event = event_at(self._data, start, end)
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
                eager = NodeTime(kind.op_type, kind.op_type, self._plane.name, at, spent, spent)
            elif eager is not None and _is_its_kernel(kind, at, spent, eager):
                eager = replace(eager, op_us=spent)
            elif kind.op_type:
                yield NodeTime(kind.node, kind.op_type, self._plane.name, at, spent, spent)
        if eager is not None:
            yield eager

    def _note_step(self, kind: _Kind, stats: Iterable[Any], spent: float) -> None:
        number = self._plane.statistic(stats, _STEP)
        if number.isdecimal() and len(self._found.steps) < _MOST_STEPS:
            self._found.steps.append(Step(kind.node, int(number), spent))

    def _kind(self, number: int, start: int, end: int) -> _Kind:
        """What the events called `number` are; where the name does not tell, the first of them does."""
        name = self._plane.events.get(number, "")
        named = node_and_op(name, self._is_op)
        if named is not None:
            return _Kind(*named)
        if not self._all_ops:
            return _NOTHING
        if name == EAGER_KERNEL:
            return _Kind(kernel=True)
        op_type = eager_op(name, self._is_op)
        if op_type:
            return _Kind(op_type=op_type, eager=True)
        event = event_at(self._data, start, end)
        if event is None:
            return _NOTHING
        if self._plane.statistic(event.stats, _STEP):
            return _Kind(name, step=True)
        if is_name_of_xla(name) and self._plane.statistic(event.stats, _OF_XLA) == name:
            return _Kind(name, XLA)
        return _NOTHING


def _is_its_kernel(kind: _Kind, at: float, spent: float, eager: NodeTime) -> bool:
    """Whether the event is the computation of the `eager` op: older versions call it as they do in executors."""
    within = eager.start_us <= at and at + spent <= eager.start_us + eager.exec_us
    return within and (kind.kernel or kind.op_type == eager.op_type)
