"""Programs whose numbers debugging once changed: plain, captured and watched they give the same ones."""

from __future__ import annotations

import pytest

from exactness.apart import assert_same, outcomes
from exactness.catalog import named
from exactness.courses import Plant, course_of
from exactness.fronts import capturing, debugged, watching
from exactness.programs import small
from exactness.verdict import Way, assert_exact, assert_exact_again

pytestmark = pytest.mark.tf

_QUICK = (
    "fit of two Dense layers",
    "residual of the batch",
    "scalar sum",
    "Dense and GELU",
    "forward over reverse",
    "update skipped",
    "fed scale",
)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
@pytest.mark.parametrize("name", named())
def test_long_course(name: str, onednn: bool) -> None:
    assert_same(outcomes("named", f"^{name}$", onednn=onednn))


@pytest.mark.parametrize("name", _QUICK)
def test_short_course(name: str) -> None:
    entry = named()[name]
    ways = [Way.CAPTURED_PLANTED, Way.PASSED_OVER, Way.RESULTS]
    if entry.rewinds:
        assert_exact_again(entry.make(), 6, Plant(3), ways, goes_on=bool(entry.goes_on))
    else:
        assert_exact(entry.make(), 6, ways, goes_on=bool(entry.goes_on))


def test_every_captured_run_says_how_exact_it_is() -> None:
    front = capturing()
    with debugged(front):
        course_of(small.skipped_update, 3)
    assert (front.count, front.judged) == (3, 3)


def test_a_hit_says_how_exact_it_is() -> None:
    front = watching()
    with debugged(front):
        course_of(small.skipped_update, 3, Plant(1))
    assert (front.hits, front.judged) == (1, 1)


def test_training_goes_on_behind_a_fused_relu() -> None:
    """oneDNN makes one op of a product, a bias and a ReLU, which gives 0 for the NaN that is planted in its data."""
    found = outcomes("named", "^fused ReLU$", "--steps", "6", "--ways", "passed_over", onednn=True, limit=200)
    assert_same(found)
