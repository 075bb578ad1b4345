"""Random programs: debugging changes none of their numbers, or says so. A few always; for minutes under `-m slow`."""

from __future__ import annotations

import json
import os

import pytest

from exactness.apart import python
from exactness.programs.recipe import recipe
from exactness.search import tried

pytestmark = pytest.mark.tf

# Seeds that the search found: once these programs gave other numbers when they were captured.
_QUICK = (1, 2, 6, 10, 15, 24, 25)
_FOUND = (16, 18, 19, 23, 26, 27, 28)
_SAID = (1006, 1014)  # compiled by XLA, and watched with their values kept: that they differ is said
_SECONDS = float(os.environ.get("TFDBG_SEARCH_SECONDS", "600"))


@pytest.mark.parametrize(
    "seed", [*_QUICK, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (*_FOUND, *_SAID))]
)
def test_program(seed: int) -> None:
    finding = tried(seed)
    assert finding.outcome in {"same", "said"}, f"{finding.recipe}\n{finding.how}"


def test_a_seed_gives_one_recipe() -> None:
    assert recipe(5) == recipe(5) != recipe(6)


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS + 600)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
def test_search(onednn: bool) -> None:
    """Half of the time with oneDNN, half without it."""
    lines = python("exactness.search", "--seconds", str(_SECONDS / 2), onednn=onednn, limit=_SECONDS + 300)
    *findings, counted = map(json.loads, lines)
    print(counted)
    assert counted["tried"] > _SECONDS / 60
    unsaid = [f"{found['recipe']}\n{found['how']}" for found in findings if found["outcome"] == "differs"]
    assert not unsaid, f"{len(unsaid)} of {counted['tried']} differ:\n" + "\n\n".join(unsaid)
