"""What is made when somebody looks: values by name, and sentences that take a while to find out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

Held = TypeVar("Held")
Made = TypeVar("Made")


class LazyValues(Mapping[str, Made], Generic[Held, Made]):
    """A mapping whose values are `make(held[name])`, computed anew on every access and not cached."""

    def __init__(self, held: Mapping[str, Held], make: Callable[[Held], Made]) -> None:
        self._held = held
        self._make = make

    def __getitem__(self, name: str) -> Made:
        return self._make(self._held[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


class LateNotes(Sequence[str]):
    """The sentences that `make` gives, asked when somebody looks first. Equal to any sequence of the same ones."""

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
