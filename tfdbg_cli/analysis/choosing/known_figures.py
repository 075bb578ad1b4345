"""Figures of what was recorded without the values: exact, or no more than what they lie between."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.choosing.figures import figure, parts_of
from tfdbg_cli.model.statistics import Summary

_COUNTS = frozenset({"nan", "inf", "bad", "neg", "zero", "pos", "size"})
_SOME = math.ulp(0.0)  # the least share of elements that is more than none


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number that nobody knows lies between; both ends may be the number."""

    least: float
    most: float


# A number, NaN where there is none; or what it lies between; None where nobody knows anything of it.
Known: TypeAlias = float | Bounds | None

ANY_COUNT = Bounds(0, math.inf)
"""What is known of a count of which nothing was recorded."""


def known_figure(summary: Summary, name: str) -> Known:
    """What `summary` tells of the figure called `name`, any of `conditions.FIGURES` but the rank."""
    parts = parts_of(name)
    if summary.unknown.isdisjoint(parts):
        return figure(summary, name)
    if name not in _COUNTS:
        return None
    size = math.inf if "size" in summary.unknown else summary.size
    told = sum(getattr(summary, part) for part in parts if part not in summary.unknown)
    least = max(told, 1) if name == "bad" and summary.spoiled else told
    return Bounds(least, max(size, least)) if least < size else least


def known_share(summary: Summary, name: str) -> Known:
    """The same of a count, as a share of the elements; of an empty tensor the count."""
    return share_of(known_figure(summary, name), known_figure(summary, "size"))


def share_of(count: Known, size: Known) -> Known:
    """`count` as a share of `size` elements; `count` itself where there are none."""
    if isinstance(size, float | int):
        if not isinstance(count, Bounds):
            return count / size if count is not None and size else count
        return Bounds(count.least / size, min(count.most / size, 1)) if size else count
    if count is None or count == 0:
        return count
    least = count.least if isinstance(count, Bounds) else count
    return Bounds(_SOME if least > 0 else 0, 1)


def added(counts: Iterable[Known]) -> Known:
    """The sum of `counts`; of one of which nothing is known it is known that it is not negative."""
    least = most = 0.0
    for count in counts:
        bounds = ANY_COUNT if count is None else count if isinstance(count, Bounds) else Bounds(count, count)
        least, most = least + bounds.least, most + bounds.most
    return least if least == most else Bounds(least, most)
