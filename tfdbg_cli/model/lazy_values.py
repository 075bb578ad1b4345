"""Values by name that are made when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

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
