"""Recorded statistics of all tensors of a store as arrays, for runs with very many tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class StatisticColumns:
    """Statistics by their names in `Summary`: 1-D arrays with a float64 for each tensor of a store, NaN if missing.

    The boolean masks say which tensors have recorded statistics (`known`), and which have a value instead (`valued`).
    """

    numbers: Mapping[str, Array]
    known: Array
    valued: Array


@runtime_checkable
class TellsStatistics(Protocol):
    """A store that may have statistics of all its tensors at once, such as a recording of very many tensors."""

    def statistics(self, names: Sequence[str]) -> StatisticColumns | None:
        """The statistics called `names` (fields of `Summary`); None if each tensor has to be asked for its own."""
        ...

    def statistics_in_steps(self, names: Sequence[str]) -> Iterator[float]:
        """Read in steps what `statistics` will return for these names; each step yields the share done (0 to 1)."""
        ...


def statistics_of(store: TensorStore, names: Sequence[str]) -> StatisticColumns | None:
    """`store.statistics(names)` if the store has it (`TellsStatistics`), else None."""
    return store.statistics(names) if isinstance(store, TellsStatistics) else None


def statistics_in_steps(store: TensorStore, names: Sequence[str]) -> Iterator[float]:
    """`store.statistics_in_steps(names)` if the store has it (`TellsStatistics`), else no steps."""
    if isinstance(store, TellsStatistics):
        yield from store.statistics_in_steps(names)
