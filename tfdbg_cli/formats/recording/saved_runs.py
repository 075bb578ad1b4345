"""Runs on disk that are read when they are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from tfdbg_cli.model.runs import Run, RunOutline
from tfdbg_cli.model.units import count_text

_KEPT = 16

Key = TypeVar("Key")
Told = TypeVar("Told")


@dataclass(frozen=True)
class Glance(Generic[Key]):
    """Functions that tell facts of a run from its key without reading all of it; None where they cannot."""

    count: Callable[[Key], int | None] = lambda _: None
    number: Callable[[Key], int | None] = lambda _: None
    outline: Callable[[Key], RunOutline | None] = lambda _: None


class SavedRuns(Sequence[Run], Generic[Key]):
    """A sequence with a run for each of `keys` (a folder, say), read by `read` on access; the last few are cached.

    `glance` tells some facts without reading the run. Where the last ones may be runs that the program never made,
    but `again`, it `holds_made`.
    """

    def __init__(
        self,
        keys: Sequence[Key],
        read: Callable[[Key], Run],
        glance: Glance[Key] | None = None,
        *,
        holds_made: bool = False,
    ) -> None:
        self.holds_made = holds_made
        self._keys = keys
        self._read = read
        self._glance = glance or Glance[Key]()
        self._kept: OrderedDict[int, Run] = OrderedDict()

    def forget(self, place: int) -> None:
        """Drop the run at `place` from the cache, since it has grown, so that the next access reads it again."""
        self._kept.pop(place, None)

    def tensor_count(self, place: int) -> int:
        """How many tensors the run at `place` has. Raises TfdbgError where the run cannot be read."""
        found = self._at_a_glance(place, self._glance.count)
        return len(self[place].tensors) if found is None else found

    def number(self, place: int) -> int:
        """The number of its call. Raises TfdbgError where the run cannot be read."""
        found = self._at_a_glance(place, self._glance.number)
        return self[place].call.number if found is None else found

    def outline(self, place: int) -> RunOutline:
        """What a list tells of it. Raises TfdbgError where the run cannot be read."""
        found = self._at_a_glance(place, self._glance.outline)
        return self[place].outline if found is None else found

    def _at_a_glance(self, place: int, told: Callable[[Key], Told | None]) -> Told | None:
        """The fact `told` of the run at `place` by its key; None if the run is cached anyway, or has to be read."""
        return None if place in self._kept else told(self._keys[place])

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<{count_text(len(self), 'run')}>"

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return SavedRuns(self._keys[index], self._read, self._glance)
        place = range(len(self._keys))[index]
        if place not in self._kept:
            self._kept[place] = self._read(self._keys[place])
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place]


class GrowingRuns(SavedRuns[Key]):
    """Runs to which `look` appends one for each new key that `fresh` gives.

    No run ever changes its place, so that what a screen shows stays valid. `look` may be called by another thread
    than the one that reads runs; `fresh` is then called there.
    """

    def __init__(
        self,
        keys: Sequence[Key],
        read: Callable[[Key], Run],
        fresh: Callable[[], Iterable[Key]],
        *,
        holds_made: bool = False,
    ) -> None:
        self._growing = list(keys)
        super().__init__(self._growing, read, holds_made=holds_made)
        self._fresh = fresh

    @property
    def changed(self) -> int:
        """Always 0: a run is written as a whole, and never grows."""
        return 0

    def look(self) -> None:
        """Add what was written since the last time.

        Raises:
            TfdbgError: it cannot be read.

        """
        self._growing.extend(self._fresh())


@dataclass(frozen=True)
class SavedRecording:
    """A plain `Recording` (formats/recording/format.py): just its attributes."""

    runs: Sequence[Run]
    notes: Sequence[str] = ()
    workers: Sequence[str] = ()
    went_bad: bool = False
