"""The figures of a tensor by the names that users write: counts of its elements, and sizes of the finite ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from tfdbg_cli.model.statistics import Summary

_NAN = float("nan")
# A figure that a tensor does not have, for it has no finite elements, is NaN, of which no comparison holds.
_OF_SUMMARY: Mapping[str, Callable[[Summary], float]] = MappingProxyType({
    "min": lambda summary: _NAN if summary.min is None else summary.min,
    "max": lambda summary: _NAN if summary.max is None else summary.max,
    "mean": lambda summary: _NAN if summary.mean is None else summary.mean,
    "std": lambda summary: _NAN if summary.std is None else summary.std,
    "absmax": lambda summary: _largest(summary),
    "nan": lambda summary: summary.nan,
    "inf": lambda summary: summary.neg_inf + summary.pos_inf,
    "bad": lambda summary: summary.nonfinite,
    "neg": lambda summary: summary.neg,
    "zero": lambda summary: summary.zero,
    "pos": lambda summary: summary.pos,
    "size": lambda summary: summary.size,
})  # fmt: skip
_MADE_OF = {"inf": {"neg_inf", "pos_inf"}, "bad": {"nan", "neg_inf", "pos_inf"}, "absmax": {"min", "max"}}
FIGURES = (*_OF_SUMMARY, "rank")
"""By name: counts of elements (`bad` are NaN and infinities), and min, max, mean, std, absmax of the finite ones."""


def _largest(summary: Summary) -> float:
    if summary.min is None or summary.max is None:
        return _NAN
    return max(abs(summary.min), abs(summary.max))


def parts_of(name: str) -> Sequence[str]:
    """The fields of `Summary` from which the figure called `name` is computed, sorted."""
    return sorted(_MADE_OF.get(name, {name}))


def figure(summary: Summary, name: str) -> float:
    """The figure called `name`, any of `FIGURES` but the rank; NaN if there is none, or it was not recorded."""
    return _NAN if summary.unknown & _MADE_OF.get(name, {name}) else _OF_SUMMARY[name](summary)
