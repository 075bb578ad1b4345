"""What is asked of tensors inside a run, of a function or of a session.

Every answer is a small vector of counts; those of all tensors are added up. DebugNumericSummaryV2
(core/ops/debug_ops.cc) counts in one pass over the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.filters import TensorFilter, has_inf, has_inf_or_nan, has_nan


@dataclass(frozen=True)
class Question:
    """What is asked of each tensor.

    `mode` is the `tensor_debug_mode` that counts it, in a vector of `width`, at `places`. `op` tells it of each
    element where that op is not to be had; `negated` if it tells the contrary. `keeps_sign_only` says that the answer
    for a sum does not follow from those for its parts (an infinity can become NaN). `test` asks an array.
    """

    name: str
    mode: int
    width: int
    places: tuple[int, ...]
    op: str
    negated: bool
    keeps_sign_only: bool
    test: TensorFilter

    def asked_of(self, array: Any) -> bool:
        """Whether `array`, the value of a constant, is what is looked for; when it is not known, it may be."""
        return array is None or bool(self.test(None, array))

    def found_in(self, counts: Any) -> bool:
        """Whether something was found, by the sum of all answers (an array)."""
        return any(counts[place] != 0 for place in self.places)


# The modes are CURT_HEALTH, (id, whether any) and CONCISE_HEALTH, (id, elements, -inf, +inf, NaN), of
# core/protobuf/debug_event.proto.
_QUESTIONS = (
    Question("has_inf_or_nan", 2, 2, (1,), "IsFinite", True, False, has_inf_or_nan),
    Question("has_nan", 3, 5, (4,), "IsNan", False, False, has_nan),
    Question("has_inf", 3, 5, (2, 3), "IsInf", False, True, has_inf),
)


def question_of(tensor_filter: TensorFilter) -> Question | None:
    """The question that asks the same as one of our filters; None when it cannot be asked inside a run.

    A filter of the person's is none, whatever it is called.
    """
    return next((question for question in _QUESTIONS if question.test is tensor_filter), None)


def questions() -> Mapping[str, Question]:
    """All questions, by the name of the filter that asks the same."""
    return {question.name: question for question in _QUESTIONS}
