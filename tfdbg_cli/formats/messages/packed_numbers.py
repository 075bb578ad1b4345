"""Lists of numbers, one for each of very many messages: as one array of all numbers, and where each list ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.model.values import Array

_MOST_OCTETS = 10  # of a number


@dataclass(frozen=True, slots=True)
class NumberLists:
    """The list at `i` is `flat` from where the one before it ends to before `ends[i]`."""

    flat: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> tuple[int, ...]:
        place = range(len(self.ends))[at]
        return tuple(self.flat[self.ends[place - 1] if place else 0 : self.ends[place]].tolist())

    def number(self, at: int, slot: int, missing: int) -> int:
        """The number at `slot` of the list at `at`; `missing` where it is shorter."""
        place = (int(self.ends[at - 1]) if at else 0) + slot
        return int(self.flat[place]) if place < self.ends[at] else missing

    @property
    def lengths(self) -> Array:
        """How many numbers each list has."""
        return np.diff(self.ends, prepend=0)

    def slots(self) -> Array:
        """Of each number in `flat` its place in its list."""
        begins: Array = np.repeat(self.ends - self.lengths, self.lengths)
        return np.arange(len(self.flat)) - begins

    def shortened(self, most: Array) -> NumberLists:
        """The first `most` numbers of each list."""
        lengths = np.minimum(self.lengths, np.maximum(most, 0))
        kept = self.slots() < np.repeat(lengths, self.lengths)
        return NumberLists(self.flat[kept], np.cumsum(lengths))

    def taken(self, order: Array) -> NumberLists:
        """The lists at the places in `order`."""
        lengths = self.lengths[order]
        return NumberLists(self.flat[within((self.ends - self.lengths)[order], lengths)], np.cumsum(lengths))


NO_LISTS = NumberLists(np.empty(0, np.int64), np.empty(0, np.int64))


def joined(parts: Sequence[NumberLists]) -> NumberLists:
    """The lists of all `parts`, one part behind the other."""
    if not parts:
        return NO_LISTS
    lengths = np.concatenate([part.lengths for part in parts])
    return NumberLists(np.concatenate([part.flat for part in parts]), np.cumsum(lengths))


def within(begins: Array, lengths: Array) -> Array:
    """All places of stretches that begin at `begins` and have these lengths, one stretch behind the other."""
    total = int(lengths.sum())
    shifts: Array = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    return np.arange(total) + shifts


def unpacked(content: Array, begins: Array, ends: Array) -> tuple[NumberLists, Array]:
    """The numbers of variable length that fill `content` from `begins` to `ends`, and which of the lists are none."""
    lengths = ends - begins
    odd = np.zeros(len(begins), bool)
    filled = lengths > 0
    odd[filled] = content[ends[filled] - 1] >= 0x80  # the last one goes on
    lengths = np.where(odd, 0, lengths)
    octets = content[within(begins, lengths)]
    if not len(octets):
        return NumberLists(np.empty(0, np.int64), np.zeros(len(begins), np.int64)), odd
    closing = octets < 0x80
    last = np.flatnonzero(closing)
    first = np.concatenate([[0], last[:-1] + 1])
    sizes = last - first + 1
    bits = 7 * np.minimum(np.arange(len(octets)) - np.repeat(first, sizes), _MOST_OCTETS - 1).astype(np.uint64)
    flat = np.add.reduceat((octets & 0x7F).astype(np.uint64) << bits, first).view(np.int64)
    closed = np.concatenate([[0], np.cumsum(closing)])
    list_ends = closed[np.cumsum(lengths)]
    long = np.flatnonzero(sizes > _MOST_OCTETS)
    odd[np.searchsorted(list_ends, long, side="right")] = True
    return NumberLists(flat, list_ends), odd
