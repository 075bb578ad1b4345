"""The variables of two places compared: which differ, which only one has, and what these may be called there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tfdbg_cli.analysis.difference.errors import Errors, joined, measured, zeros_apart
from tfdbg_cli.analysis.difference.tolerance import EXACT
from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.analysis.variables.contents import digest
from tfdbg_cli.analysis.variables.pairs import Paired, fits, paired
from tfdbg_cli.analysis.variables.renames import Content, VariableRename, renames
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.tensors import release
from tfdbg_cli.model.values import LOST, Array, NoValue

_PIECE = 1 << 22  # elements compared before their memory is given back


class VariableChange(StrEnum):
    """What sets a pair of variables apart."""

    SHAPE = "shape"
    DTYPE = "dtype"
    VALUES = "values"


@dataclass(frozen=True, slots=True)
class Differing:
    """A pair of variables, by their places, that differs; `errors` tells how far, where values can be compared.

    `nan` are the elements that are NaN, in each of both, `zeros` those that differ in the sign of a zero alone.
    """

    first: int
    second: int
    change: VariableChange
    errors: Errors | None = None
    nan: tuple[int, int] = (0, 0)
    zeros: int = 0


@dataclass
class VariablesCompared:
    """What came of it: `valued` pairs have values on both sides; of those in `unread` one cannot be read.

    `suggested` has by the place of a variable that only the first has what it may be in the second.
    """

    pairs: Paired
    differing: list[Differing] = field(default_factory=list)
    valued: int = 0
    unread: list[int] = field(default_factory=list)
    suggested: Mapping[int, VariableRename] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether nothing differs, and both have the same variables."""
        return not (self.differing or self.pairs.only_first or self.pairs.only_second)


def compared(first: KnownVariables, second: KnownVariables) -> VariablesCompared:
    """Compare variable by variable, to the last bit; large ones are read a part at a time."""
    found = VariablesCompared(paired(first.rows, second.rows))
    for ours, theirs in found.pairs.pairs:
        difference = _difference(first, second, ours, theirs, found)
        if difference is not None:
            found.differing.append(difference)
    alone = found.pairs.only_first, found.pairs.only_second
    found.suggested = renames(first.rows, second.rows, *alone, (_contents(first), _contents(second)))
    return found


def _contents(known: KnownVariables) -> Content:
    def content(at: int) -> bytes | None:
        value = known.values.value(at)
        return None if isinstance(value, NoValue) else digest(value, lambda: release(known.run.tensors))

    return content


def _difference(
    first: KnownVariables, second: KnownVariables, ours: int, theirs: int, found: VariablesCompared
) -> Differing | None:
    one, other = first.rows[ours], second.rows[theirs]
    if not fits(one.shape, other.shape):
        return Differing(ours, theirs, VariableChange.SHAPE)
    changed = one.dtype != other.dtype and bool(one.dtype and other.dtype)
    values = first.values.value(ours), second.values.value(theirs)
    errors, nan, zeros = None, (0, 0), 0
    if isinstance(values[0], NoValue) or isinstance(values[1], NoValue):
        lost = (isinstance(value, NoValue) and value.lack in LOST for value in values)
        known = (side.values.source(at) is not None for side, at in ((first, ours), (second, theirs)))
        if any(lack and held for lack, held in zip(lost, known, strict=True)):
            found.unread.append(ours)
    elif values[0].shape != values[1].shape:
        return Differing(ours, theirs, VariableChange.SHAPE)
    else:
        found.valued += 1
        errors, nan, zeros = _measured(values[0], values[1], first, second)
    if changed:
        return Differing(ours, theirs, VariableChange.DTYPE, errors, nan, zeros)
    differs = errors is not None and errors.unequal
    return Differing(ours, theirs, VariableChange.VALUES, errors, nan, zeros) if differs else None


def _measured(
    one: Array, other: Array, first: KnownVariables, second: KnownVariables
) -> tuple[Errors, tuple[int, int], int]:
    """The errors, how many elements are NaN on each side where some are not finite, and how many zeros differ."""
    ours, theirs = one.reshape(-1), other.reshape(-1)
    parts, nan, zeros = [], [0, 0], 0
    for start in range(0, max(one.size, 1), _PIECE):
        mine, its = ours[start : start + _PIECE], theirs[start : start + _PIECE]
        parts.append(measured(mine, its, EXACT))
        zeros += zeros_apart(mine, its)
        if parts[-1].nonfinite:
            nan = [nan[0] + _nan(mine), nan[1] + _nan(its)]
        if one.size > _PIECE:
            release(first.run.tensors)
            release(second.run.tensors)
    errors = joined(parts)
    return replace(errors, unequal=errors.unequal + zeros), (nan[0], nan[1]), zeros


def _nan(value: Array) -> int:
    return summarize(value).nan if is_inexact(value.dtype) else 0
