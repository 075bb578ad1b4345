"""Where code that runs eagerly is stopped in its middle: after a step, or at a place that somebody named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # decisions are known before NumPy is loaded
    from tfdbg_cli.model.names import TensorName
    from tfdbg_cli.model.values import Array


class Pace(StrEnum):
    """How far a step goes."""

    OP = "op"  # the next op that the program asks for, whoever runs it
    LINE = "line"  # the next op of another line of the program; what a line calls is part of it
    OUT = "out"  # the first op behind the layer, or the call of the program, that the op stopped at is in


STEPS: Mapping[Pace, str] = MappingProxyType({Pace.OP: "op", Pace.LINE: "line", Pace.OUT: "op outside"})
"""What a step goes to, in words behind "the next"."""


@dataclass(frozen=True, slots=True)
class Place:
    """Ops behind which to stop: those for which all that is given holds.

    `op` is an op type, the name of a node, or a layer or scope around it, with wildcards if wanted; `file` ends the
    path of a source file, of which `line` is a line (1-based, 0 for any). `condition` is asked of what the op gives.
    """

    op: str = ""
    file: str = ""
    line: int = 0
    condition: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.op
        return f"{where} when {self.condition}" if self.condition else where


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A place at which every pass stops."""

    number: int
    place: Place

    def __str__(self) -> str:
        return f"breakpoint {self.number} ({self.place})"


class Breakpoints:
    """The breakpoints of a process; commands at a stop change them."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._last = 0

    def add(self, place: Place) -> Breakpoint:
        """Have every op at `place` stop."""
        self._last += 1
        made = self._all[self._last] = Breakpoint(self._last, place)
        return made

    def remove(self, number: int) -> bool:
        """Drop the breakpoint with that number; whether there was one."""
        return self._all.pop(number, None) is not None

    def clear(self) -> None:
        """Drop all."""
        self._all.clear()

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(tuple(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)


@dataclass(frozen=True, eq=False)
class Sought:
    """What code that runs eagerly is to stop at: the end of a step, one `place`, or any breakpoint."""

    pace: Pace | None
    place: Place | None
    breakpoints: tuple[Breakpoint, ...]


class Replaceable(Protocol):
    """The op behind which a program stands, whose outputs can still be exchanged."""

    @property
    def node(self) -> str:
        """Its name."""
        ...

    @property
    def why(self) -> str:
        """Why the program was stopped there."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that can be given another value."""
        ...

    def value(self, name: TensorName) -> Array:
        """What the program is given for that output of the op, or what that variable holds.

        Raises:
            TfdbgError: it is neither.

        """
        ...

    def replace(self, name: TensorName, value: Array) -> None:
        """Give the program `value`, of the same dtype and shape, in place of an output; or assign it to a variable.

        Raises:
            TfdbgError: the name is neither.

        """
        ...
