"""The checksum behind what TensorFlow writes: CRC-32C (Castagnoli), masked as TensorFlow masks it.

A checksum is linear: that of many bytes is the exclusive or of what each byte gives with the zeros behind it. So a
table of those takes a block of bytes at once.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tfdbg_cli.model.values import Array

_POLYNOMIAL = 0x82F63B78  # that of Castagnoli, bits reversed
_BLOCK = 1024  # bytes taken at once
_FEW = 32  # bytes for which a loop is faster
_ALL = 0xFFFFFFFF
_MASK = 0xA282EAD8
_HEAD = 12  # bytes of a length and its checksum


def masked_checksum(data: bytes) -> int:
    """What a TFRecord file holds behind `data`."""
    checksum = _checksum(data)
    return ((checksum >> 15 | checksum << 17) + _MASK) & _ALL


def _checksum(data: bytes) -> int:
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
    behind = np.lib.stride_tricks.sliding_window_view(content, 4)[places + 8].view("<u4")[:, 0]
    places, behind = places[behind != 0], behind[behind != 0]
    state, first = np.full(len(places), _ALL, np.uint32), _table()[0]
    for at in range(8):
        state = state >> 8 ^ first[(state ^ content[places + at]) & 0xFF]
    state ^= np.uint32(_ALL)
    masked = (state >> np.uint32(15) | state << np.uint32(17)) + np.uint32(_MASK)
    return [int(place) for place in places[masked == behind]]


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
