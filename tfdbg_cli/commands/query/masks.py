"""A query asked of very many rows at once: which it admits for sure, which it surely does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.commands.query.language import Both, Comparison, Either, Named, Not, Query, Word
from tfdbg_cli.model.values import Array

# For each row whether a word or a comparison holds of it; None where that is not told by the column.
MaskOf = Callable[[Word | Comparison], Array | None]


@dataclass(frozen=True, slots=True)
class Decided:
    """For each row whether a query admits it, and whether it does not; what is neither is still to be asked."""

    admitted: Array
    refused: Array

    @property
    def open(self) -> Array:
        return ~(self.admitted | self.refused)


def decided(query: Query, mask_of: MaskOf, count: int) -> Decided:
    """What columns alone decide of `query` for `count` rows."""
    match query:
        case Word() | Comparison():
            mask = mask_of(query)
            return _nothing(count) if mask is None else Decided(mask, ~mask)
        case Named():
            return _nothing(count)
        case Not(part):
            of_part = decided(part, mask_of, count)
            return Decided(of_part.refused, of_part.admitted)
        case Both(parts):
            of_all = [decided(part, mask_of, count) for part in parts]
            return Decided(
                np.logical_and.reduce([one.admitted for one in of_all]),
                np.logical_or.reduce([one.refused for one in of_all]),
            )
        case Either(parts):
            of_all = [decided(part, mask_of, count) for part in parts]
            return Decided(
                np.logical_or.reduce([one.admitted for one in of_all]),
                np.logical_and.reduce([one.refused for one in of_all]),
            )


def leaves(query: Query) -> Iterator[Word | Comparison]:
    """The words and comparisons that `query` is made of."""
    match query:
        case Word() | Comparison():
            yield query
        case Not(part):
            yield from leaves(part)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)


def _nothing(count: int) -> Decided:
    return Decided(np.zeros(count, bool), np.zeros(count, bool))
