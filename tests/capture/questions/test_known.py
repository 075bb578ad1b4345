"""The questions of our own filters: one for each row that is checked inside a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, FILTERS, has_inf_or_nan
from tfdbg_cli.capture.questions.known import QUESTIONS, _question, question_of


def test_the_rows_that_are_checked_inside_have_a_question_and_no_others() -> None:
    assert set(QUESTIONS) == {each.name for each in FILTERS if each.inside}


@pytest.mark.parametrize("ours", [each for each in FILTERS if each.inside], ids=lambda ours: ours.name)
def test_a_question_asks_for_its_filter(ours) -> None:
    _question.cache_clear()  # which other tests filled by filters that are equal
    question = question_of(ours)
    assert question.asked is ours
    assert (question.name, question.among, question.compares) == (ours.name, ours.among, ours.compares)


def test_a_filter_that_is_not_to_be_asked_inside_has_none() -> None:
    assert question_of(replace(BUILT_IN_FILTERS["all_zero"], inside=False)) is None
    assert question_of(replace(BUILT_IN_FILTERS["magnitude_above"], parameter=0.0)) is None
    assert question_of(lambda datum, tensor: True) is None


def test_the_plain_test_of_a_filter_has_its_question() -> None:
    assert question_of(has_inf_or_nan) is question_of(BUILT_IN_FILTERS["has_inf_or_nan"])
