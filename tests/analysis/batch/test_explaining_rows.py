"""The fewest rows that explain what is bad."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.batch.explaining_rows import Explanation, explaining_rows
from tfdbg_cli.analysis.origin.search import OriginSearch

PAIRS = list(combinations(range(6), 2))


def _between(some: tuple[int, ...], others: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(one, other) for one in some for other in others]


@pytest.mark.parametrize(
    ("groups", "rows"),
    [
        ([(4, 4)], (4,)),
        (_between((4,), (0, 1, 2)), (4,)),
        (_between((1, 4), (0, 2, 3, 5)), (1, 4)),  # two that are not bad beside each other
        ([(0, 0), (0, 1), (0, 2), (3, 1), (3, 2)], (0, 3)),
        (_between((0, 3, 5), (1, 2, 4)), ()),  # either half of the batch
        ([(0, 1), (1, 2), (2, 3)], ()),
        ([(0, 1), (0, 2), (1, 2), (4, 5)], (0, 1, 2, 4, 5)),  # equal rows, say
        ([(0, 1, 2), (0, 3, 4)], (0,)),
        ([(0, 1, 2), (1, 2, 3)], ()),
    ],
)
def test_they_are_told_where_no_others_explain_it_as_well(
    groups: list[tuple[int, ...]], rows: tuple[int, ...]
) -> None:
    assert explaining_rows(groups).rows == rows


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        (_between((0, 3, 5), (1, 2, 4)), "rows 0, 3, 5, as well as by rows 1, 2, 4"),
        ([(0, 1, 2), (1, 2, 3)], "row 1, as well as by row 2"),
        (
            _between(tuple(range(10)), tuple(range(10, 20))),
            "rows 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, as well as by rows 10, 11",
        ),
    ],
)
def test_where_several_sets_explain_it_two_are_named(groups: list[tuple[int, ...]], told: str) -> None:
    """Those who use it asked which: no row was told, and that what is bad does not tell."""
    assert f"what is bad is explained by {told}" in explaining_rows(groups).why_none


def test_a_search_that_would_take_too_long_ends_with_none() -> None:
    draw = np.random.default_rng(1)
    pairs = {tuple(sorted(draw.choice(200, 2, replace=False).tolist())) for _ in range(3000)}
    assert explaining_rows(pairs) == Explanation()
    assert Explanation().why_none.endswith("what is bad does not tell which of them are to blame")


@pytest.mark.parametrize(("guilty", "rows"), [((4,), (4,)), ((1, 4), (1, 4)), ((0, 3, 5), ())])
def test_of_pairs_that_were_gathered_the_rows_that_all_bad_ones_have(
    guilty: tuple[int, ...], rows: tuple[int, ...]
) -> None:
    x = np.ones((6, 2), np.float32)
    x[guilty, :] = -1
    pairs = np.array(PAIRS)
    products = x @ x.T + 2
    taken = products[pairs[:, 0], pairs[:, 1]]
    with np.errstate(divide="ignore"):
        bad = np.log(taken)
    run = made_run(
        op("x", "Placeholder", value=x), op("mm", "MatMul", "x", "x", transpose_b="True", value=products - 2),
        op("two", "Const", value=2.0), op("sum", "AddV2", "mm", "two", value=products),
        op("pairs", "Const", value=pairs), op("taken", "GatherNd", "sum", "pairs", value=taken),
        op("log", "Log", "taken", value=bad), feeds={"x:0": x},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.batch_rows == rows
    assert bool(rows) or "rows 0, 3, 5, as well as by rows 1, 2, 4" in origin.batch.lost
