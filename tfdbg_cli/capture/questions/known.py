"""The questions that our own filters ask."""

from __future__ import annotations

from functools import lru_cache

from tfdbg_cli.analysis.watch.filter import Filter, TensorFilter
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.capture.questions.of_training import OF_TRAINING
from tfdbg_cli.capture.questions.of_values import OF_VALUES
from tfdbg_cli.capture.questions.question import Question

QUESTIONS = {**OF_VALUES, **OF_TRAINING}
"""What makes the question of a filter of ours, by its name."""


def question_of(tensor_filter: TensorFilter) -> Question | None:
    """The question that asks the same as one of our filters; None when it cannot be asked inside a run.

    A filter of the user's is none, whatever it is called.
    """
    ours = our_filter(tensor_filter)
    return _question(ours) if ours is not None and ours.checked_inside else None


@lru_cache(maxsize=100)
def _question(asked: Filter) -> Question:
    return QUESTIONS[asked.name](asked)
