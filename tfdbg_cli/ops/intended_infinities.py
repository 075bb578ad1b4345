"""Infinities that look intended: a table of where they come from, what may carry them on, and where they end.

A row excuses a tensor when it comes from one of `sources` and every op that reads it is one of `carriers`, whose
result is looked at in turn, or one of `ends`, whose result must be finite. One op that is in no row, or a variable
that is written with it, and the infinity counts as a fault. Where NaN comes of it the search for the fault goes on at
the op that made the NaN. To teach tfdbg another habit, add a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops import kinds
from tfdbg_cli.ops.kinds import ops


def _only_inf(value: Array, inputs: Sequence[Array | None]) -> bool:
    return not np.isnan(value).any()


def _only_minus_inf(value: Array, inputs: Sequence[Array | None]) -> bool:
    return not np.isnan(value).any() and not np.isposinf(value.real).any()


def is_literal_infinity(value: Array) -> bool:
    """Whether a constant is what a program writes where it means infinity: infinite, or 0, in every element."""
    return not np.isnan(value).any() and bool((np.isinf(value) | (value == 0)).all())


def _written(value: Array, inputs: Sequence[Array | None]) -> bool:
    return is_literal_infinity(value)


def _log_of_a_mask(value: Array, inputs: Sequence[Array | None]) -> bool:
    """The logarithm of nothing but 0 and 1, which is 0 where a place is open and -inf where it is not."""
    given = inputs[0] if inputs else None
    return given is not None and bool(((given == 0) | (given == 1)).all())


def may_be_a_mask(source: str, value: Array, inputs: Sequence[Array | None]) -> bool:
    """Whether `value`, made by an op of the type `source`, is infinite where a program closes places, if it does."""
    if source == "Log":
        return _log_of_a_mask(value, inputs)
    return source in _LITERALS | _GIVEN and is_literal_infinity(value) and not np.isposinf(value.real).any()


def closes_places(source: str, value: Array, inputs: Sequence[Array | None]) -> bool:
    """Whether an op of the type `source` computed `value` as a program does where it closes places.

    That is infinite, of one sign, where they are closed, and elsewhere one number: a cast of such a mask, a quotient
    or a product of one. Of a sum such a mask may be what was added, as a large number. What overflows, or is divided
    by 0, has numbers of all kinds beside it, and so have logarithms: of these only one of 0 and 1 is a mask.
    """
    if source == "Log":
        return False
    infinite = np.isinf(value)
    if (
        not infinite.any()
        or np.isnan(value).any()
        or (np.isposinf(value.real).any() and np.isneginf(value.real).any())
    ):
        return False
    if _is_one_number(value[~infinite]):
        return True
    added = inputs if source in kinds.SUMS | kinds.LONG_SUMS else ()
    return any(
        given is not None and not given.dtype.hasobject and given.shape == value.shape
        and _is_one_number(given[infinite])
        and not given[~infinite].any() and bool((np.abs(given[infinite]) > 1).all())
        for given in added
    )  # fmt: skip


def _is_one_number(values: Array) -> bool:
    return values.size > 0 and bool((values == values.reshape(-1)[0]).all())


def _anything(value: Array, inputs: Sequence[Array | None]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Habit:
    """One way in which programs use infinities on purpose, as the module's docstring describes.

    `sources` is empty if any op may be the source; `looks_so` tests the source's value, given those of its inputs.
    An op of LOOKS neither carries nor ends an infinity, unless `ends` names it. With `harm` a NaN may result, and the
    search for the fault goes on at the op that made it; without it, a NaN rules the habit out. With `added` none of
    the ends may read the source itself, and a NaN that another op than they makes, of inputs without NaN, rules the
    habit out.
    """

    what: str
    sources: frozenset[str]
    looks_so: Callable[[Array, Sequence[Array | None]], bool]
    carriers: frozenset[str]
    ends: frozenset[str]
    harm: bool = True
    added: bool = False


# They move elements, or hand them to what the program calls.
_HANDS_ON = kinds.MOVES | kinds.IDENTITIES | kinds.COPIES | kinds.CONTROL_FLOW | kinds.CALLS | kinds.TRANSFERS | {
    "MirrorPad", "EnsureShape", LOOP_VARIABLE, "Fill", "_Retval",
}  # fmt: skip
# They inspect a value or its shape, and pass none of its elements on.
LOOKS = kinds.OF_SHAPES | kinds.COMPARES | ops("BroadcastGradientArgs IsFinite IsInf IsNan ArgMax ArgMin Sign")
_LITERALS = ops("Const Fill")
_GIVEN = kinds.INPUTS | kinds.BATCHES
ANY_VARIABLE = "Variable"  # stands for whatever holds a variable, also one that a function captured
_VARIABLES = ops(f"ReadVariableOp {ANY_VARIABLE}")

# They pass a mask on, or apply it to something.
MASKING = _HANDS_ON | kinds.EXTREMES | kinds.SELECTS | ops("Add AddV2 Sub Neg BiasAdd AddN")
_SHARING = ops(
    "Softmax LogSoftmax Exp Sigmoid Softplus SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits"
    " Multinomial RandomCategorical StatelessMultinomial TopK TopKV2"
)

HABITS: tuple[Habit, ...] = (
    # scores + mask, tf.where(kept, scores, -inf): exp(-inf) is 0, so that masked places get no share.
    Habit("a mask of -inf", _LITERALS, _only_minus_inf, MASKING, _SHARING | kinds.EXTREMES | kinds.SELECTS),
    Habit("a mask of -inf that was given", _GIVEN, _only_minus_inf, MASKING, _SHARING),
    Habit(
        "a mask of -inf made by log(0)",
        ops("Log"),
        _log_of_a_mask,
        MASKING,
        _SHARING,
        harm=False,
    ),
    # scores + log(kept), where a row of `kept` has no place that is open: the fault is the softmax of that row. Only
    # of sums: log(y) - log(p) is of probabilities, and the logarithm is then what went wrong.
    Habit(
        "a mask of -inf made by log(0) and added",
        ops("Log"),
        _log_of_a_mask,
        _HANDS_ON | kinds.SELECTS | ops("Add AddV2"),
        ops("Softmax LogSoftmax"),
        added=True,
    ),
    # (1 - kept) * -inf: where it should do nothing it is 0 * inf, which is NaN; that product is the fault.
    Habit("an infinity that is multiplied", _LITERALS, _written, _HANDS_ON, ops("Mul MulNoNan")),
    # tf.clip_by_value(x, 0.0, inf), tf.minimum(x, inf): no bound on one side.
    Habit(
        "a bound that nothing reaches",
        _LITERALS,
        _only_inf,
        ops("Identity Cast BroadcastTo Fill"),
        ops("Minimum Maximum ClipByValue"),
        harm=False,
    ),
    # tf.norm(x) < tf.constant(-inf), x >= inf: a limit that nothing reaches, as in searches without one.
    Habit(
        "a limit that something is compared with",
        _LITERALS,
        _only_inf,
        ops("Identity Cast BroadcastTo Fill Reshape"),
        kinds.COMPARES,
        harm=False,
    ),
    # best = inf; best = min(best, x): the first x takes its place.
    Habit(
        "the start of a running minimum or maximum",
        _LITERALS | _VARIABLES,
        _only_inf,
        _HANDS_ON | kinds.SELECTS | ops("ReadVariableOp UpdatedVariable"),
        kinds.EXTREMES | kinds.SELECTS,
        harm=False,
    ),
    # tf.where(x > 0, tf.math.log(x), 0.0): chosen away, and no gradient passes through it (see `intended`).
    Habit("a value that tf.where replaces", frozenset(), _anything, _HANDS_ON, kinds.SELECTS, harm=False),
)
