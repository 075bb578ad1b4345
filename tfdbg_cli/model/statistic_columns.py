"""Statistics of very many tensors at once, where their store has recorded them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class StatisticColumns:
    """Statistics of every tensor of a store, by their names in `Summary`: NaN where there is no such number.

    They are `known` of some, and of what is `valued` nobody recorded any, since there are values.
    """

    numbers: Mapping[str, Array]
    known: Array
    valued: Array


@runtime_checkable
class TellsStatistics(Protocol):
    """A store that may know statistics of all its tensors without a look at each: one of very many, say."""

    def statistics(self, names: Sequence[str]) -> StatisticColumns | None:
        """Those of `names`, which are counts and moments of a `Summary`; None: look yourself."""
        ...

    def statistics_in_steps(self, names: Sequence[str]) -> Iterator[float]:
        """Find out what `statistics` is asked for then, some at a time; gives the share that is done."""
        ...


def statistics_of(store: TensorStore, names: Sequence[str]) -> StatisticColumns | None:
    """What a store tells that `TellsStatistics`; None of any other."""
    return store.statistics(names) if isinstance(store, TellsStatistics) else None


def statistics_in_steps(store: TensorStore, names: Sequence[str]) -> Iterator[float]:
    """What a store finds out that `TellsStatistics`; nothing of any other."""
    if isinstance(store, TellsStatistics):
        yield from store.statistics_in_steps(names)
