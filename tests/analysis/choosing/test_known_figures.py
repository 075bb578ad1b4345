"""What is known of figures of which a recording tells no exact number."""

from __future__ import annotations

import math

import pytest

from tfdbg_cli.analysis.choosing.known_figures import (
    ANY_COUNT,
    Bounds,
    Known,
    added,
    known_figure,
    known_share,
    share_of,
)
from tfdbg_cli.commands.query.facts import known_to_hold
from tfdbg_cli.model.statistics import Summary

_BAD = frozenset({"nan", "neg_inf", "pos_inf"})
_MOMENTS = frozenset({"min", "max", "mean", "std"})
_COUNTED = Summary(6, nan=2, neg=3, zero=1, unknown=_MOMENTS)
_SHAPE_ALONE = Summary(6, unknown=_BAD | _MOMENTS | {"neg", "zero", "pos"})
_SPOILED = Summary(0, unknown=_BAD | _MOMENTS | {"size"}, spoiled=True)


@pytest.mark.parametrize(
    ("summary", "name", "known"),
    [
        (_COUNTED, "bad", 2),
        (_COUNTED, "max", None),
        (_COUNTED, "absmax", None),
        (_SHAPE_ALONE, "bad", Bounds(0, 6)),
        (_SHAPE_ALONE, "size", 6),
        (_SPOILED, "bad", Bounds(1, math.inf)),
        (_SPOILED, "nan", Bounds(0, math.inf)),
        (_SPOILED, "size", Bounds(0, math.inf)),
        (Summary(6, nan=6, unknown=frozenset({"pos_inf"})), "bad", 6),
        (Summary(0, unknown=_BAD), "nan", 0),
    ],
)
def test_a_count_lies_between_what_was_seen_and_all(summary: Summary, name: str, known: Known) -> None:
    assert known_figure(summary, name) == known


def test_a_figure_that_there_is_none_of_is_known_to_be_none() -> None:
    found = known_figure(Summary(2, nan=2), "max")
    assert isinstance(found, float) and math.isnan(found)


def test_shares_are_bounded_by_all_elements() -> None:
    assert known_share(_COUNTED, "zero") == 1 / 6
    assert known_share(_SHAPE_ALONE, "zero") == Bounds(0, 1)
    share = known_share(_SPOILED, "bad")
    assert isinstance(share, Bounds) and share.least > 0 and share.most == 1
    assert (share_of(0, None), share_of(None, 3), share_of(2, 0)) == (0, None, 2)


def test_a_sum_is_as_little_known_as_its_parts() -> None:
    assert added([]) == 0 and added([1, 2.0]) == 3
    assert added([1, Bounds(0, 4)]) == Bounds(1, 5)
    assert added([2, None]) == added([2, ANY_COUNT]) == Bounds(2, math.inf)


@pytest.mark.parametrize(
    ("sign", "wanted", "holds"),
    [
        (">", 0, True), (">", 1, None), (">", 6, False), (">=", 1, True), (">=", 7, False), ("<", 1, False),
        ("<", 7, True), ("<", 6, None), ("<=", 6, True), ("=", 0, False), ("=", 3, None), ("!=", 0, True),
        ("!=", 6, None),
    ],
)  # fmt: skip
def test_a_comparison_holds_where_all_that_is_possible_agrees(sign: str, wanted: float, holds: bool | None) -> None:
    assert known_to_hold(sign, wanted)(Bounds(1, 6)) is holds


def test_of_what_nobody_knows_nothing_is_known_and_of_no_number_nothing_holds() -> None:
    assert known_to_hold("!=", 1)(None) is None
    assert known_to_hold("!=", 1)(math.nan) is False
