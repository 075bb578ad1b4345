"""The times of a profiled run, with the lines that made the nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.analysis.graph.nodes.annotation import made_at, traced_scope
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.sources import Frame, Traceback


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from `low` to `high`; an open end leaves its bound out."""

    low: float = 0.0
    high: float = float("inf")
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.low_open else number >= self.low
        return above and (number < self.high if self.high_open else number <= self.high)


@dataclass(frozen=True, slots=True)
class TimedNode:
    """One execution of a node and the line of the user's program that made it, if known.

    `of` is the node whose line that is: itself, or the one in whose scope the runtime made it.
    """

    time: NodeTime
    frame: Frame | None
    of: str

    @property
    def line_key(self) -> tuple[str, int]:
        """What to sort by source line with; nodes without a line come last."""
        return (self.frame.file, self.frame.line) if self.frame is not None else (chr(0x10FFFF), 0)


@dataclass(frozen=True)
class TimeQuery:
    """Which executions to take. Empty regular expressions and None admit everything.

    `min_line` is included, `max_line` is not. Times are in microseconds.
    """

    device: str = ""
    node: str = ""
    op_type: str = ""
    file: str = ""
    min_line: int | None = None
    max_line: int | None = None
    exec_time: Interval = field(default_factory=Interval)
    op_time: Interval = field(default_factory=Interval)


SORT_KEYS: Mapping[str, Callable[[TimedNode], Any]] = {
    "node": lambda timed: timed.time.node,
    "op_type": lambda timed: timed.time.op_type,
    "start_time": lambda timed: timed.time.start_us,
    "op_time": lambda timed: timed.time.op_us,
    "exec_time": lambda timed: timed.time.exec_us,
    "line": lambda timed: timed.line_key,
}


def select(profile: Profile, tracebacks: Mapping[str, Traceback], query: TimeQuery) -> list[TimedNode]:
    """The executions that pass `query`, in order of start."""
    device, node = re.compile(query.device), re.compile(query.node)
    op_type, file = re.compile(query.op_type), re.compile(query.file)
    by_place = bool(query.file) or query.min_line is not None or query.max_line is not None
    places: dict[str, tuple[Frame | None, str]] = {}  # by the node, which runs often
    found = []
    for time in profile.times:
        if not (device.search(time.device) and node.search(time.node) and op_type.search(time.op_type)):
            continue
        if time.exec_us not in query.exec_time or time.op_us not in query.op_time:
            continue
        if time.node not in places:
            of = traced_scope(tracebacks, time.node) or time.node
            places[time.node] = made_at(tracebacks, time.node), of
        frame, of = places[time.node]
        if by_place and (frame is None or not file.search(frame.file) or not _between(frame.line, query)):
            continue
        found.append(TimedNode(time, frame, of))
    return found


def _between(number: int, query: TimeQuery) -> bool:
    return (query.min_line is None or number >= query.min_line) and (
        query.max_line is None or number < query.max_line
    )


def by_device(times: Iterable[TimedNode]) -> dict[str, list[TimedNode]]:
    """`times` grouped by device, devices sorted, the order within each kept."""
    found: dict[str, list[TimedNode]] = {}
    for timed in times:
        found.setdefault(timed.time.device, []).append(timed)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class LineCost:
    """What the nodes made on one line took together, in microseconds."""

    cost_us: float
    nodes: int
    executions: int


def costs_by_line(
    times: Sequence[TimedNode], nodes_of_line: Mapping[int, Sequence[str]], cost: Callable[[NodeTime], float]
) -> dict[int, LineCost]:
    """For each line the summed `cost` of the executions of its nodes; lines whose nodes did not run are left out.

    What the runtime made in the scope of a node counts for the line of that node.
    """
    by_node: dict[str, list[NodeTime]] = {}
    for timed in times:
        by_node.setdefault(timed.of, []).append(timed.time)
    found: dict[int, LineCost] = {}
    for number, names in nodes_of_line.items():
        ran = [time for name in names for time in by_node.get(name, ())]
        if ran:
            found[number] = LineCost(sum(map(cost, ran)), len({time.node for time in ran}), len(ran))
    return found
