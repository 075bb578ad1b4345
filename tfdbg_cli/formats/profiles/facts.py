"""What a profile tells, as far as tfdbg takes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tfdbg_cli.model.profile import NodeTime

XLA = "XLA"  # stands for the type of an op where XLA put several into one instruction


@dataclass(frozen=True, slots=True)
class Step:
    """One step as the program marked it: what it called that, which one it was, and how long it took."""

    name: str
    number: int
    spent_us: float


@dataclass
class ProfileFacts:
    """The times of ops, in order of start, and what stands beside them.

    `hosts` are those that the profile names, `said` is what the profiler itself says went wrong. `unnamed` counts by
    device the kernels that tell no op, `left_out` the executions beyond what is read of one profile. `nameless` says
    that the names of events, which stand behind the events, were cut off.
    """

    times: tuple[NodeTime, ...] = ()
    steps: list[Step] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    events: int = 0
    unnamed: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    nameless: bool = False
