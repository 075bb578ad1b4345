"""Optimizers with options drawn by chance, on small networks; under `-m slow` more, then all, and some in `fit`."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

import pytest
from support.libraries import require

from exactness.apart import assert_same, outcomes
from exactness.comparison import difference
from exactness.courses import NOTHING, Plant, rewound
from exactness.programs.networks import NETWORKS
from exactness.programs.optimizers import OPTIMIZERS, OPTIONS, Combination, combinations, optimizers, thinkable
from exactness.verdict import Way, assert_exact_again

pytestmark = pytest.mark.tf

_DRAWN = 40
_QUICK = 25  # each optimizer of each library once
_SEED = 8


@cache
def _drawn() -> Sequence[Combination]:
    """Each optimizer of each library in turn, with the options and networks that were drawn least before."""
    chance = random.Random(_SEED)
    drawn: list[Combination] = []
    times: Counter[str] = Counter()
    for each in itertools.islice(itertools.cycle(optimizers()), _DRAWN):
        # What XLA compiles takes many seconds.
        usual = [one for one in thinkable(*each) if "compiled" not in one.options]
        by_chance = chance.sample(usual, len(usual))
        by_chance.sort(key=lambda one: (max(times[option] for option in one.options), times[one.network]))
        drawn.append(next(one for one in by_chance if one not in drawn and one.accepted()))
        times.update((*drawn[-1].options, drawn[-1].network))
    return drawn


@pytest.mark.parametrize(
    "number", [*range(_QUICK), *(pytest.param(number, marks=pytest.mark.slow) for number in range(_QUICK, _DRAWN))]
)
def test_drawn(number: int) -> None:
    """As in the first pass below, each network is traced once for all, and compiled by the proof of the watch.

    Fewer of its variables are trained, and in five steps: in the last `use_ema` writes over them.
    """
    combination = _drawn()[number]
    print(combination.name)
    ways = (Way.PASSED_OVER, Way.CAPTURED_PLANTED)
    assert_exact_again(partial(combination.build_shared, few=True), 5, Plant(2), ways, plain_first=False)


def test_every_optimizer_option_and_network_is_among_the_quick_ones() -> None:
    require("tf_keras")  # what is drawn is drawn out of both libraries
    quick = _drawn()[:_QUICK]
    assert {(one.library, one.optimizer) for one in quick} == set(optimizers())
    assert {option for one in quick for option in one.options} == OPTIONS.keys() - {"compiled"}
    assert {one.network for one in quick} == set(NETWORKS)


@pytest.mark.parametrize(
    "combination",
    [
        Combination("keras", "Adam", ("global_clipnorm",), "Conv"),
        Combination("tf_keras", "SGD", ("nesterov",), "LSTM"),
        Combination("keras", "Nadam", ("loss scaling",), "Dense"),  # keeps a product that it does not list
    ],
    ids=lambda combination: combination.name,
)
def test_a_network_traced_once_is_trained_as_one_of_the_program_itself(combination: Combination) -> None:
    pytest.importorskip(combination.library)
    alone = rewound(combination.build_stepwise, NOTHING)(4, NOTHING)
    courses = rewound(combination.build_shared, NOTHING)
    shared = courses(4, NOTHING)
    assert len(alone.steps) == 4
    assert not difference(alone, shared), difference(alone, shared).sentence
    assert not difference(shared, courses(4, NOTHING)), "its variables are not put back"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_first_pass(optimizer: str, onednn: bool) -> None:
    """Six steps say already whether TensorFlow compiles something else, in a fifth of the time."""
    assert_same(outcomes("quick", rf"\.{optimizer}\(", onednn=onednn, limit=7000), may_not_run=True)


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
