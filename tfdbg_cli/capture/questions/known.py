"""The questions that our own filters ask."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.analysis.watch.filters import (
    TensorFilter,
    Tuned,
    all_zero,
    bad_result,
    checked_inside,
    dead_units,
    exploding_gradient,
    has_inf,
    has_inf_or_nan,
    has_nan,
    magnitude_above,
    near_overflow,
    vanishing_gradient,
)
from tfdbg_cli.analysis.watch.training_filters import unchanged_variable
from tfdbg_cli.capture.questions.of_training import DeadUnits, GradientNorm, Unchanged
from tfdbg_cli.capture.questions.of_values import AllZero, Health, Large
from tfdbg_cli.capture.questions.question import Among, Covering, Question

_NOT_FINITE = Health("has_inf_or_nan", has_inf_or_nan, Covering.READERS, 2, (1,), mode=2, op="IsFinite", negated=True)
_PLAIN: tuple[Question, ...] = (
    replace(_NOT_FINITE, name="bad_result", test=bad_result, among=Among.OUTCOME, holds=has_inf_or_nan),
    _NOT_FINITE,
    Health("has_nan", has_nan, Covering.READERS, 5, (4,), mode=3, op="IsNan"),
    Health("has_inf", has_inf, Covering.READERS_KEEPING, 5, (2, 3), mode=3, op="IsInf"),
    AllZero("all_zero", all_zero, Covering.COPIES),
    Unchanged("unchanged_variable", unchanged_variable, Covering.NOTHING),
)


def question_of(tensor_filter: TensorFilter) -> Question | None:
    """The question that asks the same as one of our filters; None when it cannot be asked inside a run.

    A filter of the person's is none, whatever it is called.
    """
    if not checked_inside(tensor_filter):
        return None
    if not isinstance(tensor_filter, Tuned):
        return next((question for question in _PLAIN if question.test is tensor_filter), None)
    number = tensor_filter.number
    if tensor_filter.test is magnitude_above.test:
        return Large("magnitude_above", tensor_filter, Covering.BOUNDS, limit=number)
    if tensor_filter.test is near_overflow.test:
        return Large("near_overflow", tensor_filter, Covering.BOUNDS, share=number)
    if tensor_filter.test is dead_units.test:
        return DeadUnits("dead_relu", tensor_filter, Covering.NOTHING, share=number)
    above = tensor_filter.test is exploding_gradient.test
    assert above or tensor_filter.test is vanishing_gradient.test
    name = "exploding_gradient" if above else "vanishing_gradient"
    return GradientNorm(name, tensor_filter, Covering.NOTHING, limit=number, above=above)
