"""Sentences about a run that take a while to find out, and are for those who read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import overload


class LateNotes(Sequence[str]):
    """What `make` gives, asked when somebody looks first. Equal to any sequence of the same sentences."""

    def __init__(self, make: Callable[[], Iterable[str]]) -> None:
        self._make = make

    @cached_property
    def _notes(self) -> tuple[str, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._notes)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...

    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        return self._notes[at]

    def __eq__(self, other: object) -> bool:
        return self._notes == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._notes)

    def __repr__(self) -> str:
        return repr(self._notes)
