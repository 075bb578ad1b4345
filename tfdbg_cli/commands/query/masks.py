"""A query asked of very many rows at once: which it admits for sure, which it surely does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tfdbg_cli.commands.query.language import Both, Either, FactTest, NamedQuery, NamePattern, Not, Query
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class Decided:
    """For each row whether a query admits it, and whether it does not; what is neither is still to be asked."""

    admitted: Array
    refused: Array

    @property
    def open(self) -> Array:
        return ~(self.admitted | self.refused)

    def or_else(self, other: Decided) -> Decided:
        """The same, and what `other` says of the rows that are open here."""
        return Decided(self.admitted | (other.admitted & self.open), self.refused | (other.refused & self.open))

    @staticmethod
    def by(holds: Array, known: Array | None = None) -> Decided:
        """What `holds` says of each row, or of those of which it is `known`."""
        return Decided(holds, ~holds) if known is None else Decided(holds & known, ~holds & known)


# What columns tell of each row about a word or a comparison; None where they tell nothing.
DecidedBy: TypeAlias = Callable[[NamePattern | FactTest], Decided | None]


def decided(query: Query, told: DecidedBy, count: int) -> Decided:
    """What columns alone decide of `query` for `count` rows."""
    match query:
        case NamePattern() | FactTest():
            return told(query) or _nothing(count)
        case NamedQuery():
            return _nothing(count)
        case Not(part):
            of_part = decided(part, told, count)
            return Decided(of_part.refused, of_part.admitted)
        case Both(parts):
            of_all = [decided(part, told, count) for part in parts]
            return Decided(
                np.logical_and.reduce([one.admitted for one in of_all]),
                np.logical_or.reduce([one.refused for one in of_all]),
            )
        case Either(parts):
            of_all = [decided(part, told, count) for part in parts]
            return Decided(
                np.logical_or.reduce([one.admitted for one in of_all]),
                np.logical_and.reduce([one.refused for one in of_all]),
            )


def leaves(query: Query) -> Iterator[NamePattern | FactTest]:
    """The words and comparisons that `query` is made of."""
    match query:
        case NamePattern() | FactTest():
            yield query
        case Not(part):
            yield from leaves(part)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)


def _nothing(count: int) -> Decided:
    return Decided(np.zeros(count, bool), np.zeros(count, bool))
