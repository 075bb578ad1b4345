"""A value for a tensor, as a user types it: of which tensor or part of one, and in its type and shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdbg_cli.analysis.expression.bounded import evaluate_bounded
from tfdbg_cli.commands.asked.expression_tensors import tensor_value
from tfdbg_cli.commands.asked.tensor_choice import sliced
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import is_inexact, name_of
from tfdbg_cli.model.names import parse_index
from tfdbg_cli.model.values import Array

_QUOTES = "The prompt takes a pair of quotes away: a text stands in quotes within quotes, as \"'xy'\"."


def parted(text: str, verb: str) -> tuple[str, str]:
    """What `verb` is to replace: the tensor with its slice, whose brackets may hold blanks, and the expression.

    Raises:
        TfdbgError: one of them is missing.

    """
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char in " =" and depth == 0:
            expression = text[at:].strip().removeprefix("=").strip()
            if expression:
                return text[:at], expression
    raise TfdbgError("There is no value.", hint=f"Write: {verb} TENSOR EXPRESSION, such as `{verb} 'prob:0[0]' 0.5`.")


def with_part(old: Array, slicing: str, given: Array, name: str) -> Array:
    """A copy of `old`, the value of the tensor `name`, with `given` in its part `slicing`, or all through.

    Raises:
        TfdbgError: the shapes do not fit.

    """
    whole = np.array(old, copy=True)
    place = sliced(whole, slicing)
    index = parse_index(slicing)
    # Without the `...` a single object, as a string is, would be exchanged for the array that holds the other one.
    at = index if Ellipsis in index else (*index, Ellipsis)
    try:
        whole[at] = np.broadcast_to(given, place.shape)
    except ValueError:
        raise TfdbgError(
            f"The shapes differ: the value has {list(given.shape)}, {name}{slicing} has {list(place.shape)}.",
            hint="A single number fits any shape.",
        ) from None
    return whole


def evaluated(context: Context, expression: str, dtype: np.dtype[Any], name: str) -> Array:
    """What `expression` gives for the tensor or variable `name`, in its type.

    Raises:
        TfdbgError: it cannot be computed, or the type does not hold it.

    """
    try:
        found = evaluate_bounded(expression, lambda text: tensor_value(context, text))
    except TfdbgError as error:
        if not dtype.hasobject or "'" in expression or '"' in expression:
            raise
        raise TfdbgError(error.message, hint=f"{error.hint} {_QUOTES}".lstrip()) from None
    return as_type(found, dtype, name)


def as_type(found: Any, dtype: np.dtype[Any], name: str) -> Array:
    """What an expression gave, in the type of the tensor, with nothing lost but digits."""
    try:
        # NumPy's own type of strings drops the zeros at their ends.
        array = np.asarray(found, np.dtype(object) if dtype.hasobject else None)
        if array.dtype.kind == "c" and dtype.kind != "c":
            raise ValueError
        if dtype.hasobject:
            return _as_strings(array)
        with np.errstate(all="ignore"):
            given = array.astype(dtype)
            back = given.astype(array.dtype)
    except (ValueError, TypeError, OverflowError):
        raise TfdbgError(f"The value is no {name_of(dtype)} array, which {name} is.") from None
    if _overflows(array, given) or (not is_inexact(dtype) and not bool(np.all(back == array))):
        raise TfdbgError(f"{name} is {name_of(dtype)}, which cannot hold all of these values.")
    return given


def _overflows(array: Array, given: Array) -> bool:
    """Whether a number of `array` is an infinity in the type of `given`."""
    if array.dtype.kind not in "iufcb" or not is_inexact(given.dtype):
        return False
    return bool(np.any(np.isfinite(array) & np.isinf(given)))


def _as_strings(array: Array) -> Array:
    found = np.empty(array.shape, np.dtype(object))
    for place, item in np.ndenumerate(array):
        if not isinstance(item, str | bytes):
            raise TypeError
        found[place] = item.encode() if isinstance(item, str) else item
    return found
