"""Stopping in the middle of eager code: after a step, or at a place that the user named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the command line makes decisions before NumPy is loaded
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
    """Which ops to stop after: those that match every field that is set.

    `op` is an op type, a node name, or a layer or scope around the node, and may hold wildcards. `file` is the end of
    a source path, `line` a line in it (1-based, 0 for any). `condition` is tested on the outputs of the op.
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
    """A place to stop at every time it is reached."""

    number: int
    place: Place

    def __str__(self) -> str:
        return f"breakpoint {self.number} ({self.place})"


class Breakpoints:
    """The breakpoints of a process; commands at a stop change them."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._last = 0
        self._reached: set[str] = set()  # why the program stopped, where it did

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

    def reached(self, why: str) -> None:
        """Note that the program stopped; `why` is what `Replaceable` says of it."""
        self._reached.add(why)

    @property
    def never_reached(self) -> tuple[Breakpoint, ...]:
        """Those at which the program has not stopped so far."""
        return tuple(one for one in self if str(one) not in self._reached)

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
    """The op that a program has just run when it is stopped; its outputs can still be replaced."""

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
        """The value that the program will get for an output of the op, or the current value of a variable.

        Raises:
            TfdbgError: `name` is neither an output nor one of `variables`.

        """
        ...

    def replace(self, name: TensorName, value: Array) -> None:
        """Give the program `value`, of the same dtype and shape, in place of an output; or assign it to a variable.

        Raises:
            TfdbgError: the name is neither.

        """
        ...

    @property
    def pending(self) -> tuple[TensorName, ...]:
        """The outputs in whose place the program is given another value when it goes on."""
        ...

    @property
    def written(self) -> Mapping[TensorName, Array]:
        """The variables that were given another value here, with what each held before."""
        ...

    def take_back(self, name: TensorName) -> None:
        """Give the program the output `name`, one of `pending`, as the op gave it; or a variable what it held."""
        ...
