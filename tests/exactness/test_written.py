"""Training as people write it: debugging changes none of its numbers, whether values are made again or kept."""

from __future__ import annotations

import pytest

from exactness.apart import assert_same, outcomes
from exactness.catalog import written
from exactness.verdict import Way, assert_exact

pytestmark = pytest.mark.tf

_WAYS = ("captured", "watched", "passed_over", "kept", "captured_planted", "results")


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("onednn", [True, False], ids=["oneDNN", "without oneDNN"])
@pytest.mark.parametrize("name", written())
def test_written(name: str, onednn: bool) -> None:
    assert_same(outcomes("written", f"^{name}$", "--steps", "12", "--ways", *_WAYS, onednn=onednn))


def test_keeping_values_changes_no_fit() -> None:
    """The update of Nadam was merged otherwise when its values were given back."""
    assert_exact(written()["averaged by callback"].make(), 2, [Way.KEPT])


def test_ragged_rows_and_all_ways() -> None:
    ways = [Way.CAPTURED_PLANTED, Way.PASSED_OVER, Way.RESULTS, Way.KEPT]
    assert_exact(written()["ragged"].make(), 4, ways)
