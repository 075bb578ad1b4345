"""The rows of the table of causes for a result that is too large for its dtype, which many ops share."""

from __future__ import annotations

from tfdbg_cli.analysis.causes import suggestions as helps
from tfdbg_cli.analysis.causes.reasons import (
    Reason,
    among,
    by_constant,
    by_state,
    grown,
    in_gradient,
    of_large_gradient,
    of_variables,
    overflow,
    scaled,
    untrained,
)

HALF = ("float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz",
         "float8_e5m2fnuz")  # fmt: skip
_NORMS = frozenset({"L2Loss", "EuclideanNorm"})  # of a gradient whose norm overflows none can be clipped by it


def overflows(ops: frozenset[str], what: str, suggestion: str, half: str = helps.IN_FLOAT32) -> tuple[Reason, ...]:
    """The rows for a result that is too large: of weights that grew, in half precision, and otherwise."""
    norms = ops & _NORMS
    text = f"{what} exceeds {{largest}}, the largest {{dtype}}"
    return (
        Reason(ops, by_constant(overflow), f"{text}; {{constant}} is in it", helps.SMALLER_CONSTANT),
        Reason(ops, grown(untrained(overflow)), f"{text}; {{grown}}", helps.UNTRAINED),
        Reason(ops, grown(overflow), f"{text}; {{grown}}", helps.TRAINING_DIVERGES),
        Reason(ops, by_state(overflow), f"{text}; {{large}} is what a loop carries from turn to turn", helps.STEADY),
        Reason(ops, in_gradient(scaled(among(HALF, overflow))), text, helps.SCALED_LESS),
        Reason(ops, in_gradient(among(HALF, overflow)), text, helps.SCALED),
        Reason(ops, among(HALF, overflow), text, half),
        *((Reason(norms, of_large_gradient(overflow), text, helps.NORM_OF_GRADIENT),) if norms else ()),
        Reason(ops, of_large_gradient(overflow), text, helps.LARGE_GRADIENT),
        Reason(ops, of_variables(overflow), text, helps.ONLY_VARIABLES),
        Reason(ops, overflow, text, suggestion),
    )
