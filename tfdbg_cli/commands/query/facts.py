"""The facts that a query can compare: what each means, and which signs and values go with it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from tfdbg_cli.analysis.choosing.known_figures import Bounds, Known
from tfdbg_cli.analysis.choosing.tensor_query import shape_matcher
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.commands.asked.patterns import search_pattern
from tfdbg_cli.commands.query.language import FactTest, QueryError
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import element_type_names
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array


class Measure(Enum):
    """How values of a fact are written."""

    TEXT = auto()  # equal to a text, or found in it by a regular expression
    ROLE = auto()
    SHAPE = auto()
    NUMBER = auto()
    SIZE = auto()  # elements, or bytes where a unit of bytes stands behind
    COUNT = auto()  # elements, or their share of all where a % stands behind


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a row, by the names a user may give it."""

    names: tuple[str, ...]
    measure: Measure
    meaning: str

    @property
    def name(self) -> str:
        return self.names[0]


_COUNTS = ("nan", "inf", "bad", "neg", "zero", "pos")
FACTS: tuple[Fact, ...] = (
    Fact(("name",), Measure.TEXT, "the name of the row, which plain words search"),
    Fact(("op", "type", "op_type"), Measure.TEXT, "the op type"),
    Fact(("kind",), Measure.TEXT, "command, run, layer, file, tensor or op (find)"),
    Fact(("dtype",), Measure.TEXT, "the element type"),
    Fact(("shape",), Measure.SHAPE, "such as [*,128] or [5,?,3]; ? is any length, * any axes"),
    Fact(("rank",), Measure.NUMBER, "how many axes"),
    Fact(("size",), Measure.SIZE, "elements: 1000, 2k, 1M; or bytes: 512B, 64kB, 1.5MB"),
    Fact(("device",), Measure.TEXT, "the device, such as CPU:0 or GPU"),
    Fact(("layer",), Measure.TEXT, "the Keras layer or name scope"),
    Fact(("role",), Measure.ROLE, "forward, gradient or update; fwd, grad, upd will do"),
    Fact(("run",), Measure.NUMBER, "the number of the run"),
    Fact(("worker",), Measure.TEXT, "the worker of a job that made the run: worker:chief0 or worker=chief0"),
    Fact(("execution", "exec"), Measure.NUMBER, "the turn of a loop, from 0"),
    Fact(("tensors",), Measure.NUMBER, "how many tensors (lists of runs and layers)"),
    Fact(("calls",), Measure.NUMBER, "how often a trace was called (traces)"),
    Fact(("seconds",), Measure.NUMBER, "how long it took to make a trace (traces)"),
    Fact(("trainable",), Measure.TEXT, "yes, no or unknown (lists of variables)"),
    Fact(("initialized",), Measure.TEXT, "yes, no or unknown (lists of variables)"),
    Fact(("written",), Measure.TEXT, "whether the run writes it: yes, no or unknown (lists of variables)"),
    *(Fact((name,), Measure.COUNT, "elements that are so; or their share: zero>50%") for name in _COUNTS),
    *(Fact((name,), Measure.NUMBER, "of the finite elements") for name in ("min", "max", "absmax", "mean", "std")),
)
BY_NAME: Mapping[str, Fact] = {name: fact for fact in FACTS for name in fact.names}

_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
_EQUALITY = ("=", "!=")
_SIGNS = {
    Measure.TEXT: (*_EQUALITY, "~", "!~"),
    Measure.ROLE: _EQUALITY,
    Measure.SHAPE: _EQUALITY,
    Measure.NUMBER: tuple(_ORDER),
    Measure.SIZE: tuple(_ORDER),
    Measure.COUNT: tuple(_ORDER),
}
_NUMBER = re.compile(r"([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf))([A-Za-z%]*)", re.ASCII)
_MOST_DIGITS = len(str(-(2**63))) + 1
_THOUSANDS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BYTES = {
    "b": 1, **{f"{letter}{unit}": 1024**power for unit in ("b", "ib") for power, letter in enumerate("kmgt", 1)}
}  # fmt: skip
ROLE_NAMES = {"fwd": Role.FORWARD, "grad": Role.GRADIENT, "upd": Role.UPDATE, **{str(role): role for role in Role}}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit: `share` of a whole, or of `bytes`; else a plain one. What is whole is an int."""

    number: float
    bytes: bool = False
    share: bool = False


def fact_of(comparison: FactTest) -> Fact:
    """The fact that `comparison` is about, its sign and value known to go with it.

    Raises:
        QueryError: there is no such fact, or sign or value do not fit it.

    """
    fact = BY_NAME.get(comparison.fact.lower())
    if fact is None:
        hint = did_you_mean(comparison.fact, BY_NAME) or f"There are: {', '.join(one.name for one in FACTS)}."
        raise QueryError(f"there is no fact {comparison.fact!r}", comparison.at, hint=hint)
    signs = _SIGNS[fact.measure]
    if comparison.sign not in signs:
        hint = f"It goes with {' '.join(signs)}."
        raise QueryError(f"{fact.name} does not go with {comparison.sign}", comparison.at, hint=hint)
    match fact.measure:
        case Measure.TEXT:
            text_test(comparison)
            if fact.name == "dtype" and comparison.sign in _EQUALITY:
                _require_dtype(comparison)
        case Measure.ROLE:
            role_of_value(comparison)
        case Measure.SHAPE:
            shape_test(comparison)
        case _:
            amount(comparison, fact.measure)
    return fact


def text_test(comparison: FactTest) -> Callable[[str], bool]:
    """The test of a text: the same but for the case of letters, or what the regular expression is found in."""
    negative = comparison.sign.startswith("!")
    if comparison.sign.endswith("~"):
        search = regex(comparison.value, comparison.value_at)
        return lambda text: search(text) is not negative
    wanted = comparison.value.lower()
    return lambda text: (text.lower() == wanted) is not negative


def _require_dtype(comparison: FactTest) -> None:
    name = comparison.value.lower()
    known = element_type_names()
    if name.removesuffix("_ref") in known or not name:  # of some tensors no type is known
        return
    hint = did_you_mean(name, known) or "`dtype~float` finds those with `float` in their names."
    raise QueryError(f"there is no dtype {comparison.value!r}", comparison.value_at, hint=hint)


def regex(text: str, at: int) -> Callable[[str], bool]:
    """Whether the regular expression `text`, typed at `at`, is found; a capital in it makes the case count.

    Raises:
        QueryError: it is none.

    """
    if _is_literal(text):
        if text.lower() == text:
            return lambda name: text in name.lower()
        return lambda name: text in name
    try:
        search = search_pattern(text).search
    except TfdbgError as error:
        raise QueryError(error.message.removesuffix("."), at, hint=error.hint) from None
    return lambda name: search(name) is not None


def _is_literal(text: str) -> bool:
    """Whether `text` means itself, so that no regular expression is needed to find it."""
    return text.isascii() and not set(text) & set(r".^$*+?{}[]\|()")


def role_of_value(comparison: FactTest) -> Role:
    """The role that the value names.

    Raises:
        QueryError: it names none.

    """
    found = ROLE_NAMES.get(comparison.value.lower())
    if found is None:
        raise QueryError(f"there is no role {comparison.value!r}", comparison.value_at, hint="fwd, grad or upd.")
    return found


def shape_test(comparison: FactTest) -> Callable[[Shape | None], bool]:
    """The test of a shape; one that is not known is no other either.

    Raises:
        QueryError: the value is no shape.

    """
    try:
        fits = shape_matcher(comparison.value)
    except TfdbgError as error:
        raise QueryError(error.message.removesuffix("."), comparison.value_at, hint=error.hint) from None
    if comparison.sign == "!=":
        return lambda shape: shape is not None and not fits(shape)
    return fits


def amount(comparison: FactTest, measure: Measure) -> Amount:
    """The number that the value is.

    Raises:
        QueryError: it is none, or has a unit that does not go with the fact.

    """
    match = _NUMBER.fullmatch(comparison.value)
    if match is None:
        reason = f"{comparison.value!r} is no number" if comparison.value else "a number is missing"
        raise QueryError(reason, comparison.value_at, hint="Such as 3, 1e-5, 2k or inf.")
    number, unit = _number(match[1]), match[2].lower()
    if unit in _THOUSANDS:
        return Amount(number * _THOUSANDS[unit])
    if unit == "%" and measure is Measure.COUNT:
        return Amount(number / 100, share=True)
    if unit in _BYTES and measure is Measure.SIZE:
        return Amount(number * _BYTES[unit], bytes=True)
    at = comparison.value_at + match.start(2)
    raise QueryError(
        f"{match[2]!r} is no unit of {comparison.fact}", at, hint="k, M, G; bytes: kB, MB, GB; shares: %."
    )


def _number(text: str) -> float:
    """The number in `text`: of an integer that a tensor can hold all digits, which a float does not keep."""
    return int(text) if len(text) <= _MOST_DIGITS and text.lstrip("+-").isdecimal() else float(text)


def holds(sign: str, wanted: float) -> Callable[[float], bool]:
    """The test of a number. Of NaN, a figure that there is none of, nothing holds."""
    compare = _ORDER[sign]
    return lambda found: found == found and compare(found, wanted)


def known_to_hold(sign: str, wanted: float) -> Callable[[Known], bool | None]:
    """As `holds`, of a number that may not be known; None where what is known of it leaves that open."""
    exact = holds(sign, wanted)

    def test(found: Known) -> bool | None:
        if not isinstance(found, Bounds):
            return None if found is None else exact(found)
        if sign in _EQUALITY:
            return None if found.least <= wanted <= found.most else sign == "!="
        at_least = exact(found.least)
        return at_least if at_least == exact(found.most) else None

    return test


def holding_of_each(sign: str, wanted: float, found: Array) -> Array:
    """For each number `found` what `holds` says of it."""
    compare: Callable[[Any, Any], Any] = _ORDER[sign]
    return np.asarray(compare(found, wanted) & ~np.isnan(found))
