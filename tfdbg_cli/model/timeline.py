"""What a program executed, one thing after the other: calls of functions, and ops that ran eagerly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Execution:
    """One thing that ran: in the run at the place `run` (from 0), which has this `number`; the node of this name.

    `time_us` counts microseconds from the epoch to its end; None where nobody noted it. `is_call` tells a call, with
    a graph of its own, from an op.
    """

    run: int
    number: int
    node: str
    op_type: str
    time_us: int | None
    outputs: int
    is_call: bool


@runtime_checkable
class TellsExecutions(Protocol):
    """Runs that know what was executed in them without being read."""

    @property
    def executions(self) -> Sequence[Execution]:
        """What was executed, in order; each may be made when it is looked at."""
        ...

    @property
    def in_order_of_time(self) -> bool:
        """Whether each execution ended behind those before it, and not only behind those of its own program."""
        ...
