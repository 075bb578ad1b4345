"""Figures of very many tensors at once, as arrays, for stores that give statistics by the column."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.choosing.figures import parts_of
from tfdbg_cli.analysis.choosing.sorting import numbered
from tfdbg_cli.model.statistic_columns import statistics_in_steps, statistics_of
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array

_SIZE = "size"
_BAD, _ENDS = ("nan", "neg_inf", "pos_inf"), ("min", "max")
_WORST = (_SIZE, *_BAD, *_ENDS)


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A figure of every tensor (float64, NaN where it has none), and a mask of those with recorded statistics."""

    numbers: Array
    known: Array


def figure_column(store: TensorStore, name: str, *, share: bool = False) -> FigureColumn | None:
    """The figure called `name` (`conditions.FIGURES`) of every tensor; with `share`, as a share of its elements.

    None if the store gives no such columns.
    """
    parts = parts_of(name)
    columns = statistics_of(store, _columns_for(parts))
    if columns is None:
        return None
    each = np.stack([columns.numbers[part] for part in parts])
    found = np.abs(each).max(0) if parts == sorted(_ENDS) else each.sum(0)
    if share:
        size = columns.numbers[_SIZE]
        found = np.divide(found, size, out=found.copy(), where=size > 0)
    return FigureColumn(found, columns.known)


def figure_in_steps(store: TensorStore, name: str) -> Iterator[float]:
    """Read what `figure_column` needs, in steps that yield the share done; call it before, so that it is fast."""
    return statistics_in_steps(store, _columns_for(parts_of(name)))


def _columns_for(parts: Sequence[str]) -> Sequence[str]:
    return parts if _SIZE in parts else [*parts, _SIZE]


def worst_in_steps(store: TensorStore) -> Iterator[float]:
    """Read what `worst_first` needs, in steps that yield the share done; call it before, so that it is fast."""
    return statistics_in_steps(store, _WORST)


def worst_first(store: TensorStore, found: Sequence[int], *, reverse: bool) -> Sequence[int] | None:
    """Sort `found`, indices in order of execution, worst first as `lt -s worst` does, or with `reverse` worst last.

    None if that takes reading tensors one by one, since some of them have values.
    """
    columns = statistics_of(store, _WORST)
    if columns is None:
        return None
    asked = numbered(found)
    if columns.valued[asked].any():
        return None
    known = columns.known[asked]
    of_each = (np.where(known, columns.numbers[name][asked], 0) for name in _WORST)
    size, nan, neg_inf, pos_inf, low, high = of_each
    bad = nan + neg_inf + pos_inf
    numberless = ~known | (np.isnan(low) & (bad == 0))
    spoiled = ~numberless & ((bad > 0) | np.isnan(low) | np.isnan(high))
    sound = ~numberless & ~spoiled
    group = np.where(numberless, 2, np.where(spoiled, 0, 1))
    first = np.where(spoiled, -bad, np.where(sound, -np.maximum(np.abs(low), np.abs(high)), 0))
    second = np.where(spoiled, -np.divide(bad, size, out=np.zeros_like(bad), where=size > 0), 0)
    ranks = [-rank if reverse else rank for rank in (second, first, group)]
    order = array("q")
    order.frombytes(asked[np.lexsort(ranks)].tobytes())
    return order
