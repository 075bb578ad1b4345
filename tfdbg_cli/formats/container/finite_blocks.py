"""Which tensors of a run hold finite numbers only: many of them read at once, and counted together.

Most tensors are fine. To open, read and ask for each by itself takes longer than to look at its elements.
"""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.formats.container.columns import Columns
from tfdbg_cli.formats.container.data_headers import OwnFiles
from tfdbg_cli.formats.container.layout import Encoding, data_file
from tfdbg_cli.formats.messages.event_header import MOST_DIMENSIONS
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.formats.recording.stand_in import as_here, descriptor_of, provide
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

_BLOCK = 1 << 21  # bytes that are read at once: they and the answers for them stay in the cache of the processor
_GAP = 1 << 12  # bytes between two tensors of a block that are read in vain
_WORKERS = min(4, os.cpu_count() or 1)  # reading and counting hold no lock of Python's
_AHEAD = 2 * _WORKERS  # blocks that are read before anybody asked for them
_FARTHEST = 1 << 60  # where a tensor may begin: an end behind it is still a number
_MOST_FILES = 1 << 30
_UNKNOWN = -1
_PLACE = ("file", "offset", "stored")
_KIND = ("encoding", "lack", "dtype", "shape")


@dataclass(frozen=True, slots=True)
class _Kind:
    """Tensors of one element type: as which floats their bytes are looked at (None: they are always finite)."""

    itemsize: int
    floats: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class _Block:
    """Tensors at `places` that lie close together in a file: where each begins and ends, counted from `start`."""

    file: int
    start: int
    size: int
    kind: _Kind
    places: Array
    begins: Array
    ends: Array


class FiniteBlocks:
    """Asks the tensors of one run, with its facts in `columns` and its elements below `root`, for what is not finite.

    What lies in files that are not `own_files` of the recording is not asked.

    Raises:
        DamagedIndexError: the index is damaged where it tells where elements lie.

    """

    def __init__(self, root: Path, columns: Columns, own_files: OwnFiles) -> None:
        self._root = root
        self._own_files = own_files
        file, self._offset, self._stored, *others = columns.numbers(*_PLACE, *_KIND)
        self._file = np.clip(file, -1, _MOST_FILES).astype(np.int32)
        self._kinds: list[_Kind] = []
        self._kind = self._kinds_of(columns, *others)
        self._buffers = threading.local()

    def _kinds_of(self, columns: Columns, encoding: Array, lack: Array, dtype: Array, shape: Array) -> Array:
        """By place the index of its kind in `_kinds`; of what has to be looked at by itself, `_UNKNOWN`."""
        dtypes, shapes = columns.fact_of("dtype", dtype), columns.fact_of("shape", shape)
        kinds = [self._numbered(_kind_of(str(name))) for name in dtypes.values]
        found = np.array(kinds, np.int64)[dtypes.which]
        itemsizes = np.array([kind.itemsize for kind in self._kinds] or [0], np.int64)[found]
        lengths = np.array([_length(shape) for shape in shapes.values], np.int64)[shapes.which]
        as_said = (self._stored == lengths * itemsizes) & (self._stored > 0) & (self._stored <= _BLOCK)
        plain = (encoding == Encoding.PLAIN) & (lack < 0)
        somewhere = (self._file >= 0) & (self._file < _MOST_FILES) & (self._offset >= 0) & (self._offset < _FARTHEST)
        return np.where(as_said & plain & somewhere & (lengths >= 0), found, _UNKNOWN).astype(np.int16)

    def _numbered(self, kind: _Kind | None) -> int:
        if kind is None:
            return _UNKNOWN
        if kind not in self._kinds:
            self._kinds.append(kind)
        return self._kinds.index(kind)

    def finite(self, places: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
        """Those of `places` whose tensors hold finite numbers only, some at a time, with the share that is done.

        What is not among them has to be looked at by itself: it holds something else, or cannot be asked so.
        """
        blocks = self._blocks(_numbers(places))
        total = sum(block.size for block in blocks)
        waiting: deque[tuple[_Block, Future[Array]]] = deque()
        done = 0
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="tfdbg-scan") as pool:
            try:
                for block in blocks:
                    waiting.append((block, pool.submit(as_here(self._sound), block)))
                    if len(waiting) < _AHEAD:
                        continue
                    done += waiting[0][0].size
                    yield _answer(*waiting.popleft()), done / total
                while waiting:
                    done += waiting[0][0].size
                    yield _answer(*waiting.popleft()), done / total
            finally:
                for _, future in waiting:
                    future.cancel()

    def _blocks(self, places: Array) -> list[_Block]:
        asked = places[self._kind[places] != _UNKNOWN]
        asked = asked[np.lexsort((self._offset[asked], self._kind[asked], self._file[asked]))]
        foreign = [number for number in np.unique(self._file[asked]).tolist() if self._own_files.is_foreign(number)]
        asked = asked[~np.isin(self._file[asked], foreign)]
        if not asked.size:
            return []
        file, kind, begin = self._file[asked], self._kind[asked], self._offset[asked]
        end = begin + self._stored[asked]
        together = (file[1:] == file[:-1]) & (kind[1:] == kind[:-1]) & (begin[1:] >= end[:-1])
        together &= begin[1:] - end[:-1] <= _GAP
        found: list[_Block] = []
        for first, last in _stretches(together, begin, end):
            start = int(begin[first])
            part = slice(first, last)
            found.append(
                _Block(
                    int(file[first]), start, int(end[last - 1]) - start, self._kinds[int(kind[first])],
                    asked[part], begin[part] - start, end[part] - start,
                )
            )  # fmt: skip
        return found

    def _sound(self, block: _Block) -> Array:
        """Of each tensor of `block`, whether it holds finite numbers only; False, too, where it cannot be read."""
        nothing = np.zeros(len(block.places), np.bool_)
        try:
            with opened(data_file(self._root, block.file)) as (file, size):
                if block.start + block.size > size:
                    return nothing
                if block.kind.floats is None:
                    return ~nothing
                content = self._buffer()[: block.size]
                provide(data_file(self._root, block.file), (block.start, block.start + block.size))
                if os.preadv(descriptor_of(file), [content.data], block.start) != block.size:
                    return nothing
        except OSError:
            return nothing
        return _finite_parts(content, block)

    def _buffer(self) -> Array:
        if not hasattr(self._buffers, "bytes"):
            self._buffers.bytes = np.empty(_BLOCK, np.uint8)
        found: Array = self._buffers.bytes
        return found


def _numbers(places: Sequence[int]) -> Array:
    if isinstance(places, range):  # most often all of them: to go through these one by one would be felt
        return np.arange(places.start, places.stop, places.step)
    return np.asarray(places, np.int64)


def _answer(block: _Block, sound: Future[Array]) -> Sequence[int]:
    found: list[int] = block.places[sound.result()].tolist()
    return found


def _finite_parts(content: Array, block: _Block) -> Array:
    floats = block.kind.floats
    assert floats is not None
    width = floats.itemsize
    if ((block.begins % width) != 0).any():  # they lie where no array of that type can begin
        return np.array([
            bool(np.isfinite(np.frombuffer(content[begin:end].tobytes(), floats)).all())
            for begin, end in zip(block.begins.tolist(), block.ends.tolist(), strict=True)
        ])  # fmt: skip
    finite = np.isfinite(content[: block.size - block.size % width].view(floats))
    if finite.all():
        return np.ones(len(block.places), np.bool_)
    # Each tensor from where it begins to where it ends; what lies between two of them counts for nobody.
    bounds = np.stack([block.begins, block.ends], axis=1).reshape(-1) // width
    return np.logical_and.reduceat(np.append(finite, True), bounds)[::2]


def _stretches(together: Array, begin: Array, end: Array) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end, of tensors sorted by where they lie: each at most `_BLOCK` bytes and one tensor."""
    cuts = [0, *(np.flatnonzero(~together) + 1).tolist(), len(begin)]
    for first, last in pairwise(cuts):
        while first < last:
            fitting = int(np.searchsorted(end[first:last], begin[first] + _BLOCK, side="right"))
            until = first + max(1, fitting)
            yield first, until
            first = until


def _kind_of(name: str) -> _Kind | None:
    """How tensors of the element type `name` are asked; None where each has to be looked at by itself."""
    element = element_type_named(name)
    if element is None or element.numpy is None:
        return None
    dtype = element.numpy
    if is_inexact(dtype):
        return _Kind(dtype.itemsize, np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype)
    return _Kind(dtype.itemsize, None) if dtype.kind in "iub" else None


def _length(shape: Shape | None) -> int:
    """How many elements; -1 of what no block holds."""
    if shape is None or len(shape) > MOST_DIMENSIONS:
        return -1
    length = math.prod(shape)
    return length if length <= _BLOCK else -1
