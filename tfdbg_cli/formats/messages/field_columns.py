"""Fields of very many messages of one kind at once: a step goes on by one field in all of them.

Protobuf's own parser makes an object a message and a copy a field. Here a field of all messages is an array, and
only what is asked for is looked at. Whatever is unusual, though a parser may accept it, makes a message `odd`:
whoever asks then has it parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.formats.messages.wire import BYTES, FIXED64, VARINT
from tfdbg_cli.model.values import Array

_MOST_FIELDS = 64  # of a message that is not odd
_MOST_OCTETS = 10  # of a number


@dataclass(frozen=True, slots=True)
class Repeated:
    """A field that a message may have several times: of each, which message it is in, the how manieth, and where."""

    rows: Array
    order: Array
    begins: Array
    ends: Array


class FieldColumns:
    """The fields of the messages that lie in `content` (bytes as numbers) from `begins` to before `ends`.

    `wires` says of each field that a message may have, all with numbers below 16, of which wire type it is. Those in
    `repeated`, which are of bytes, may come more than once. Messages that are not so, or go on behind their end, are
    `odd`: what is told of them means nothing.
    """

    def __init__(
        self,
        content: Array,
        begins: Array,
        ends: Array,
        wires: Mapping[int, int],
        repeated: frozenset[int] = frozenset(),
    ) -> None:
        self.content = content
        self.odd = np.zeros(len(begins), bool)
        self._there = {number: np.zeros(len(begins), np.int64) for number in wires}
        self._begins = {number: np.zeros(len(begins), np.int64) for number in wires}
        self._ends = {number: np.zeros(len(begins), np.int64) for number in wires}
        self._repeated: dict[int, list[tuple[Array, Array, Array, Array]]] = {number: [] for number in repeated}
        self._wires = wires
        at = np.asarray(begins, np.int64).copy()
        for _ in range(_MOST_FIELDS):
            rows = np.flatnonzero((at < ends) & ~self.odd)
            if not len(rows):
                return
            keys = content[at[rows]]
            at[rows] += 1
            for key in np.flatnonzero(np.bincount(keys)).tolist():
                self._take(key, rows[keys == key], at, ends)
        self.odd |= at < ends

    def _take(self, key: int, rows: Array, at: Array, ends: Array) -> None:
        number, wire = key >> 3, key & 7
        if self._wires.get(number) != wire or key >= 0x80:
            self.odd[rows] = True
            return
        if wire == VARINT:
            values, behind, odd = numbers_at(self.content, at[rows], ends[rows])
            begins = values
        elif wire == FIXED64:
            begins, behind = at[rows], at[rows] + 8
            odd = behind > ends[rows]
        else:
            lengths, begins, odd = numbers_at(self.content, at[rows], ends[rows])
            odd |= (lengths < 0) | (lengths > ends[rows] - begins)
            behind = begins + np.where(odd, 0, lengths)
        before = self._there[number][rows]
        if number in self._repeated:
            self._repeated[number].append((rows, before, begins, behind))
        else:
            odd |= before > 0
        self._there[number][rows] = before + 1
        self._begins[number][rows], self._ends[number][rows] = begins, behind
        self.odd[rows] |= odd
        at[rows] = behind

    def has(self, number: int) -> Array:
        """Which messages have the field."""
        return self._there[number] > 0

    def numbers(self, number: int) -> Array:
        """The field of every message, as 64 bits with a sign; 0 where it is not there."""
        assert self._wires[number] == VARINT
        return self._begins[number]

    def doubles(self, number: int) -> Array:
        """The field of every message, a double; 0 where it is not there."""
        assert self._wires[number] == FIXED64
        there = self.has(number) & ~self.odd
        found = np.zeros(len(there), "<f8")
        octets = self._begins[number][there][:, None] + np.arange(8)
        found[there] = self.content[octets].view("<f8")[:, 0]
        return found.astype(np.float64)

    def places(self, number: int) -> tuple[Array, Array]:
        """Where the bytes of the field begin and end in every message; both are 0 where it is not there."""
        assert self._wires[number] == BYTES
        return self._begins[number], self._ends[number]

    def repeated(self, number: int) -> Repeated:
        """All of a field that may come more than once."""
        parts = self._repeated[number]
        if not parts:
            return Repeated(*(np.empty(0, np.int64) for _ in range(4)))
        return Repeated(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def numbers_at(content: Array, places: Array, ends: Array) -> tuple[Array, Array, Array]:
    """The numbers of variable length that begin at `places`, where each ends, and which of them are none.

    They are given as 64 bits with a sign. One that has not ended before `ends` is none.
    """
    values, at = np.zeros(len(places), np.uint64), np.asarray(places, np.int64).copy()
    odd = np.zeros(len(places), bool)
    going = np.arange(len(places))
    for number in range(_MOST_OCTETS):
        outside = at[going] >= ends[going]
        if outside.any():
            odd[going[outside]] = True
            going = going[~outside]
        octets = content[at[going]]
        values[going] |= (octets & 0x7F).astype(np.uint64) << np.uint64(7 * number)
        at[going] += 1
        going = going[octets >= 0x80]
        if not len(going):
            return values.view(np.int64), at, odd
    odd[going] = True
    return values.view(np.int64), at, odd
