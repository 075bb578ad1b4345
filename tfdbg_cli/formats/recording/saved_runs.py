"""Runs on disk that are read when they are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from tfdbg_cli.model.runs import Run

_KEPT = 16

Key = TypeVar("Key")


class SavedRuns(Sequence[Run], Generic[Key]):
    """A run for each of `keys` (a folder, say), read by `read` on first access; the few used last are kept."""

    def __init__(self, keys: Sequence[Key], read: Callable[[Key], Run]) -> None:
        self._keys = keys
        self._read = read
        self._kept: OrderedDict[int, Run] = OrderedDict()

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return SavedRuns(self._keys[index], self._read)
        place = range(len(self._keys))[index]
        if place not in self._kept:
            self._kept[place] = self._read(self._keys[place])
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place]


@dataclass(frozen=True)
class SavedRecording:
    """A `Recording` (formats/recording/format.py) of which no more is to be said than its runs and some notes."""

    runs: Sequence[Run]
    notes: Sequence[str] = ()
