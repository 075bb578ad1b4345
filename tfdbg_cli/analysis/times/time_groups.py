"""The times of a profiled run, summed by what the nodes have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.analysis.times.timing import TimedNode
from tfdbg_cli.model.graph import Graph


class GroupBy(StrEnum):
    """What the nodes of a group have in common."""

    OP = "op"  # the node itself, which may run often
    TYPE = "type"
    LAYER = "layer"  # layer or scope, as `layers` has it
    LINE = "line"  # of the program
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """The `times` of the nodes that have `name` in common; it is empty where nothing is known."""

    name: str
    times: Sequence[TimedNode]

    @property
    def nodes(self) -> int:
        """How many nodes ran."""
        return len({timed.time.node for timed in self.times})

    @property
    def op_us(self) -> float:
        """The computation alone, in microseconds."""
        return sum(timed.time.op_us for timed in self.times)

    @property
    def exec_us(self) -> float:
        """The computation with the scheduling around it, in microseconds."""
        return sum(timed.time.exec_us for timed in self.times)


def grouped(times: Iterable[TimedNode], by: GroupBy, graph: Graph) -> list[TimeGroup]:
    """`times` by what nodes have in common, the groups that took longest first; nodes are those of `graph`."""
    key, found = _key(by, graph), dict[str, list[TimedNode]]()
    for timed in times:
        found.setdefault(key(timed), []).append(timed)
    groups = [TimeGroup(name, group) for name, group in found.items()]
    return sorted(groups, key=lambda group: -group.exec_us)


def _key(by: GroupBy, graph: Graph) -> Callable[[TimedNode], str]:
    layers = layers_of(graph)
    keys: dict[GroupBy, Callable[[TimedNode], str]] = {
        GroupBy.OP: lambda timed: timed.time.node,
        GroupBy.TYPE: lambda timed: timed.time.op_type,
        GroupBy.LAYER: lambda timed: scope_text(layers.layer(timed.of)),
        GroupBy.LINE: lambda timed: f"{timed.frame.file}:{timed.frame.line}" if timed.frame else "",
        GroupBy.DEVICE: lambda timed: timed.time.device,
    }
    return keys[by]
