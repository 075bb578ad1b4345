"""The checksum behind what TensorFlow writes: CRC-32C (Castagnoli), masked as TensorFlow masks it.

A checksum is linear: that of many bytes is the exclusive or of what each byte gives with the zeros behind it. So a
table of those takes a block of bytes at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from tfdbg_cli.model.values import Array

_POLYNOMIAL = 0x82F63B78  # that of Castagnoli, bits reversed
_BLOCK = 1024  # bytes taken at once
_AT_ONCE = 1 << 16  # bytes of many stretches taken at once
_LONG = 1 << 14  # bytes of a stretch that is taken alone
_FEW = 32  # bytes for which a loop is faster
_ALL = 0xFFFFFFFF
_MASK = 0xA282EAD8
_HEAD = 12  # bytes of a length and its checksum


def masked_checksum(data: bytes) -> int:
    """The checksum that a TFRecord file holds behind `data`."""
    checksum = _checksum(data)
    return ((checksum >> 15 | checksum << 17) + _MASK) & _ALL


def _checksum(data: bytes | memoryview) -> int:
    if len(data) <= _FEW:
        state, first = _ALL, _of_bytes()
        for byte in data:
            state = state >> 8 ^ first[(state ^ byte) & 0xFF]
        return state ^ _ALL
    table, rows = _flat_table(), _rows()
    state, content = _ALL, np.frombuffer(data, np.uint8)
    for start in range(0, len(content), _BLOCK):
        block = content[start : start + _BLOCK].astype(np.intp)
        # What went before is as if it were the difference in the first four bytes.
        block[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)[: len(block)]
        block += rows[_BLOCK - len(block) :]
        state = (state >> 8 * len(block)) ^ int(np.bitwise_xor.reduce(table.take(block)))
    return state ^ _ALL


@cache
def _flat_table() -> Array:
    return _table().reshape(-1)


@cache
def _rows() -> Array:
    """Where the row of each byte of a whole block begins in the flat table."""
    return np.arange(_BLOCK - 1, -1, -1, dtype=np.intp) * 256


def places_of_lengths(window: bytes) -> list[int]:
    """Where in `window` the length of a record stands in front of its own masked checksum.

    A length has four bytes and four zeros behind it, and no checksum is 0: that is looked at first, as it is cheap.
    """
    count = len(window) - _HEAD + 1
    if count < 1:
        return []
    content = np.frombuffer(window, np.uint8)
    zeros = content == 0
    likely = zeros[4 : 4 + count].copy()
    for at in range(5, 8):
        likely &= zeros[at : at + count]
    places = np.flatnonzero(likely)
    places = places[_four_at(content, places + 8) != 0]
    return [int(place) for place in places[checksums_fit(content, places)]]


def checksums_fit(content: Array, places: Array) -> Array:
    """Whether behind the eight bytes at each of `places` in `content` their masked checksum stands."""
    state, first = np.full(len(places), _ALL, np.uint32), _table()[0]
    for at in range(8):
        state = state >> 8 ^ first[(state ^ content[places + at]) & 0xFF]
    return np.asarray(_masked(state ^ np.uint32(_ALL)) == _four_at(content, places + 8))


def masked_checksums(content: Array, begins: Array, lengths: Array) -> Array:
    """What a TFRecord file holds behind each of the stretches of `content`, all of them taken together."""
    state = np.full(len(begins), _ALL, np.uint32)
    at, left = np.asarray(begins, np.int64).copy(), np.asarray(lengths, np.int64).copy()
    for row in np.flatnonzero(left > _LONG).tolist():  # one alone is taken faster as what it is
        state[row] = _checksum(content[at[row] : at[row] + left[row]].data) ^ _ALL
        left[row] = 0
    going = np.flatnonzero(left > 0)
    while len(going):
        for part in _parts_of(going, np.minimum(left[going], _BLOCK)):
            state[part] = _behind_block(content, at[part], np.minimum(left[part], _BLOCK), state[part])
        at[going] += _BLOCK
        left[going] -= _BLOCK
        going = going[left[going] > 0]
    return _masked(state ^ np.uint32(_ALL))


def _parts_of(rows: Array, lengths: Array) -> Iterator[Array]:
    """`rows` in parts whose bytes stay in the cache of the processor."""
    number = (np.cumsum(lengths) - lengths) // _AT_ONCE
    yield from np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def _behind_block(content: Array, begins: Array, lengths: Array, state: Array) -> Array:
    """The states behind a block of each stretch, all of which have a byte or more, from those before it."""
    firsts = np.cumsum(lengths) - lengths
    block = content[np.arange(int(lengths.sum())) + np.repeat(begins - firsts, lengths)].astype(np.intp)
    for byte in range(4):  # what went before is as if it were the difference in the first four bytes
        longer = lengths > byte
        block[firsts[longer] + byte] ^= (state[longer] >> np.uint32(8 * byte) & np.uint32(0xFF)).astype(np.intp)
    block += 256 * (np.repeat(firsts + lengths - 1, lengths) - np.arange(len(block)))
    kept = state >> (8 * np.minimum(lengths, 3)).astype(np.uint32)
    return np.where(lengths < 4, kept, np.uint32(0)) ^ np.bitwise_xor.reduceat(_flat_table().take(block), firsts)


def _masked(checksums: Array) -> Array:
    return (checksums >> np.uint32(15) | checksums << np.uint32(17)) + np.uint32(_MASK)


def _four_at(content: Array, places: Array) -> Array:
    """The numbers of four bytes that stand at `places`."""
    return content[places[:, None] + np.arange(4)].view("<u4")[:, 0]


@cache
def _of_bytes() -> tuple[int, ...]:
    return tuple(map(int, _table()[0]))


@cache
def _table() -> Array:
    """For each number of zero bytes behind it, and each byte, the state that it leads to from zero."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, first >> 1 ^ np.uint32(_POLYNOMIAL), first >> 1).astype(np.uint32)
    rows = [first]
    while len(rows) < _BLOCK:
        last = rows[-1]
        rows.append(last >> 8 ^ first[last & 0xFF])
    return np.stack(rows)
