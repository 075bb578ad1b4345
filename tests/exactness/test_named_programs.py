"""Programs whose numbers debugging once changed: plain, captured and watched they give the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from exactness.apart import assert_same, outcomes
from exactness.catalog import named
from exactness.courses import Plant, course_of
from exactness.fronts import capturing, debugged, watching
from exactness.programs import fitting, small
from exactness.verdict import Way, assert_exact, assert_exact_again
from tfdbg_cli.capture.functions.checking import early_reports
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction

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


@pytest.fixture
def reports_change_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read in the place of a batch comes last among the terms of a sum, whatever the name of the batch."""
    monkeypatch.setattr(early_reports, "in_place_of", lambda _node, _slot: "tfdbg_reported")


@pytest.mark.usefixtures("reports_change_sums")
def test_a_batch_whose_report_would_change_a_sum_is_told_behind_the_call() -> None:
    assert_exact(fitting.residual, 4, [Way.RESULTS])


@pytest.mark.usefixtures("reports_change_sums")
def test_copies_say_that_the_call_beside_them_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    proven = TracedFunction._proven_drawing

    def early_always(self: TracedFunction, _: Early, inputs: Sequence[Any]) -> Proof:
        return proven(self, Early(self.snapshot_plan.sources), inputs)

    monkeypatch.setattr(TracedFunction, "_proven_drawing", early_always)
    front = watching("bad_result")
    with debugged(front):
        course_of(fitting.residual, 3)
    assert front.said.startswith("Not exact") or "Last digits may differ" in front.said


def test_training_goes_on_behind_a_fused_relu() -> None:
    """oneDNN makes one op of a product, a bias and a ReLU, which gives 0 for the NaN that is planted in its data."""
    found = outcomes("named", "^fused ReLU$", "--steps", "6", "--ways", "passed_over", onednn=True, limit=200)
    assert_same(found)
