"""Optimizers with their options, on small networks: forty drawn from all; under `-m slow` all, and some in `fit`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import pytest

from exactness.apart import assert_same, outcomes
from exactness.courses import Plant
from exactness.programs.optimizers import OPTIMIZERS, Combination, combinations
from exactness.verdict import assert_exact_again

pytestmark = pytest.mark.tf

_DRAWN = 40
_SEED = 8


@cache
def _drawn() -> Sequence[Combination]:
    # What XLA compiles takes many seconds.
    usual = [one for one in combinations() if "compiled" not in one.options]
    return random.Random(_SEED).sample(usual, _DRAWN)


@pytest.mark.parametrize("number", range(_DRAWN))
def test_drawn(number: int) -> None:
    combination = _drawn()[number]
    print(combination.name)
    assert_exact_again(combination.build_stepwise, 6, Plant(3))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_all(optimizer: str, onednn: bool) -> None:
    assert_same(outcomes("optimizers", rf"\.{optimizer}\(", onednn=onednn, limit=7000), may_not_run=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
def test_fit(onednn: bool) -> None:
    """`fit` of some of them: it goes another way through TensorFlow than a step of the program's own."""
    assert_same(outcomes("fits", "", "--draw", "60", onednn=onednn, limit=3500), may_not_run=True)


@pytest.mark.slow
def test_no_optimizer_is_forgotten() -> None:
    assert {one.optimizer for one in combinations()} == set(OPTIMIZERS)
