"""What a search in an array looks for: a kind of number, or a comparison."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.array_words import native
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.statistics import has_numbers
from tfdbg_cli.model.values import Array

_COMPARISONS: dict[str, Callable[[Array, int | float], Array]] = {
    "": operator.eq, "=": operator.eq, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
_ORDER = frozenset({">", ">=", "<", "<="})
_FORM = re.compile(r"\s*(?P<sign>[<>]=?|[=!]?=|)\s*(?P<number>[-+]?[\d.][\d.eE+_-]*)\s*")
_HINT = "Write nan, inf, -inf, 0.5, >1e4, <=0 or !=0."


@dataclass(frozen=True, slots=True)
class ElementCondition:
    """`test` says of each element of a piece of an array whether it is looked for; `text` says so to a user."""

    text: str
    test: Callable[[Array], Array]


def nonfinite(piece: Array) -> Array:
    """Which elements of `piece` are NaN or infinite."""
    return ~np.isfinite(piece) if is_inexact(piece.dtype) else np.zeros(piece.shape, np.bool_)


def condition(text: str, array: Array) -> ElementCondition:
    """What `text` asks of the elements of `array`.

    Raises:
        TfdbgError: it is no condition, or none that these elements can meet.

    """
    if not has_numbers(array):
        raise TfdbgError("A search in an array looks for numbers, and these are none.", hint="`v` shows it as text.")
    word = text.strip().lower()
    kinds: dict[str, Callable[[Array], Array]] = {
        "nan": np.isnan,
        "inf": np.isinf,
        "+inf": np.isposinf,
        "-inf": np.isneginf,
    }
    if word in kinds:
        return ElementCondition(text, _of_kind(kinds[word], array))
    match = _FORM.fullmatch(text)
    number = _number(match["number"]) if match else None
    if match is None or number is None:
        raise TfdbgError(f"{text!r} is no number to look for.", hint=_HINT)
    if match["sign"] in _ORDER and array.dtype.kind == "c":
        raise TfdbgError("Complex numbers have no order.", hint="Look for nan, inf, or a number.")
    compare = _COMPARISONS[match["sign"]]

    def test(piece: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(compare(native(piece), number))

    return ElementCondition(text, test)


def _of_kind(kind: Callable[[Array], Array], array: Array) -> Callable[[Array], Array]:
    if not is_inexact(array.dtype):
        return lambda piece: np.zeros(piece.shape, np.bool_)
    if array.dtype.kind == "c":  # isposinf and isneginf know no complex numbers
        return lambda piece: np.asarray(kind(piece.real) | kind(piece.imag))
    return lambda piece: np.asarray(kind(native(piece)))


def _number(text: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None
