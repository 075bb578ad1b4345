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
            if array.dtype.hasobject and is_inexact(dtype):  # an integer of more than 64 bits
                array = array.astype(np.float64)
            given = array.astype(dtype)
            fits = _holds(given, array)
    except OverflowError:
        fits = False
    except (ValueError, TypeError):
        raise TfdbgError(f"The value is no {name_of(dtype)} array, which {name} is.") from None
    if not fits:
        raise TfdbgError(f"{name} is {name_of(dtype)}, which cannot hold all of these values.")
    return given


def _holds(given: Array, array: Array) -> bool:
    """Whether `given`, the numbers of `array` in another type, are those: of floating point types but for digits."""
    if not is_inexact(given.dtype):  # -1 and 2**64 - 1 are the same bits
        return bool(np.all((given.astype(array.dtype) == array) & ((given < 0) == (array < 0))))
    finite, number = (np.isfinite(array), ~np.isnan(array)) if is_inexact(array.dtype) else (True, True)
    return not np.any((finite & ~np.isfinite(given)) | (number & np.isnan(given)))  # some types have no infinity


def _as_strings(array: Array) -> Array:
    found = np.empty(array.shape, np.dtype(object))
    for place, item in np.ndenumerate(array):
        if not isinstance(item, str | bytes):
            raise TypeError
        found[place] = item.encode() if isinstance(item, str) else item
    return found
