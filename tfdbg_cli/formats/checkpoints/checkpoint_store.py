"""The variables of a checkpoint as the tensors of a run. Elements are mapped, and read when somebody looks."""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping, Sequence
from functools import partial
from struct import Struct
from typing import Any

import numpy as np

from tfdbg_cli.formats.checkpoints.checkpoint_index import CheckpointIndex, Entry, Piece
from tfdbg_cli.formats.checkpoints.sorted_table import DamagedTableError, number_at
from tfdbg_cli.formats.messages.tensor_proto import from_content, unreadable
from tfdbg_cli.formats.recording.checksum import masked_checksum
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.formats.recording.stand_in import Part, descriptor_of, provide
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import FoundByNode, Tensor
from tfdbg_cli.model.values import Array, Lack, NoValue, Value
from tfdbg_cli.model.variables import SAVED_VARIABLE

CHECKED = 1 << 24  # bytes up to which the checksum of a value is compared when it is looked at
_LENGTH = Struct("<I")


class CheckpointStore(FoundByNode):
    """The variables of `index`, called `names`, in this order."""

    def __init__(self, index: CheckpointIndex, names: Mapping[str, str]) -> None:
        super().__init__(TensorName(name, 0) for name in names.values())
        self._index = index
        self._entries: Sequence[Entry] = [index.entries[key] for key in names]
        self._names = list(names.values())
        self._files: dict[int, memoryview | OSError] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Tensor:
        entry = self._entries[index]
        is_known = entry.pieces and entry.element.itemsize is not None  # of strings lengths lie there, too
        size = sum(piece.size for piece in entry.pieces) if is_known else None
        shape = None if entry.trouble and not entry.shape else entry.shape
        return Tensor(TensorName(self._names[index], 0), "", 0, entry.element.name, shape, size, None, SAVED_VARIABLE)

    def value(self, index: int) -> Value:
        """The variable, mapped; of a large one `damage` has to be asked whether its checksum fits."""
        entry = self._entries[index]
        if entry.trouble:
            return NoValue(Lack.DAMAGED, entry.trouble)
        if (lack := unreadable(entry.element)) is not None:
            return lack
        try:
            parts = [self._part(entry, piece) for piece in entry.pieces]
            if len(parts) == 1:
                return parts[0]
            whole: Array = np.empty(entry.shape, parts[0].dtype)
            for piece, part in zip(entry.pieces, parts, strict=True):
                places = zip(piece.starts, piece.shape, strict=True)
                whole[tuple(slice(start, start + length) for start, length in places)] = part
        except _DamagedValueError as error:
            return NoValue(Lack.DAMAGED, str(error))
        return whole

    def part(self, index: int, key: Any) -> Any:
        """What `value(index)[key]` gives; of a large variable no more is read than that."""
        entry = self._entries[index]
        is_plain = len(entry.pieces) == 1 and entry.element.itemsize is not None and entry.element.name != "bool"
        if entry.trouble or not is_plain or entry.pieces[0].size <= CHECKED:
            value = self.value(index)
            return value if isinstance(value, NoValue) else value[key]
        piece = entry.pieces[0]
        try:
            content = np.frombuffer(self._content(piece, mapped=True), np.uint8)
            whole = _shaped(content, entry, piece)
            if not np.may_share_memory(whole, content):
                return self._part(entry, piece)[key]
            from tfdbg_cli.formats.recording.mapped_parts import looked_at  # nobody needs it to open a checkpoint

            return looked_at(whole, content, key, partial(self._bring, piece))
        except _DamagedValueError as error:
            return NoValue(Lack.DAMAGED, str(error))
        except OSError as error:
            path = self._index.data_file(piece.shard)
            return NoValue(Lack.DAMAGED, f"{path.name} cannot be read: {error.strerror or error}.")

    def _bring(self, piece: Piece, parts: Sequence[Part]) -> None:
        offset = piece.offset
        provide(self._index.data_file(piece.shard), *((offset + start, offset + end) for start, end in parts))

    def damage(self, index: int) -> str:
        """What is wrong with a variable, its checksums compared whatever its size; empty where nothing is."""
        entry = self._entries[index]
        if entry.trouble:
            return entry.trouble
        try:
            for piece in entry.pieces:
                self._part(entry, piece, checked=True)
        except _DamagedValueError as error:
            return str(error)
        return ""

    def release(self) -> None:
        """Give back the memory of what was looked at of the mapped files."""
        for held in self._files.values():
            content = held.obj if isinstance(held, memoryview) else None
            if isinstance(content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
                content.madvise(mmap.MADV_DONTNEED)

    def _part(self, entry: Entry, piece: Piece, *, checked: bool = False) -> Array:
        """One piece of a variable."""
        content = self._content(piece)
        element = entry.element
        if element.numpy is None:
            return np.empty(0)
        if element.numpy.hasobject:
            return _texts(content, piece)
        if (checked or piece.size <= CHECKED) and masked_checksum(bytes(content)) != piece.checksum:
            raise _DamagedValueError(f"The checksum of its {piece.size:,} bytes at {piece.offset:,} does not fit.")
        return _shaped(np.frombuffer(content, np.uint8), entry, piece)

    def _content(self, piece: Piece, *, mapped: bool = False) -> memoryview:
        """The bytes of a piece; there, unless they are to be `mapped` alone in a file that stands for another one."""
        path = self._index.data_file(piece.shard)
        data = self._file(piece.shard)
        if isinstance(data, OSError):
            raise _DamagedValueError(f"{path.name} cannot be read: {data.strerror or data}.")
        if piece.offset < 0 or piece.size < 0 or piece.offset + piece.size > len(data):
            text = f"It ends at byte {piece.offset + piece.size:,} of {path.name}, which has {len(data):,}."
            raise _DamagedValueError(text)
        if not mapped:
            try:
                provide(path, (piece.offset, piece.offset + piece.size))
            except OSError as error:
                raise _DamagedValueError(f"{path.name} cannot be read: {error.strerror or error}.") from error
        return data[piece.offset : piece.offset + piece.size]

    def _file(self, shard: int) -> memoryview | OSError:
        """The bytes of a data file, mapped once."""
        if shard not in self._files:
            try:
                with opened(self._index.data_file(shard)) as (file, size):
                    held = mmap.mmap(descriptor_of(file), 0, access=mmap.ACCESS_READ) if size else b""
                    self._files[shard] = memoryview(held)
            except (OSError, ValueError) as error:
                self._files[shard] = error if isinstance(error, OSError) else OSError(str(error))
        return self._files[shard]


class _DamagedValueError(ValueError):
    """A variable cannot be read; the message is a sentence."""


def _shaped(content: Array, entry: Entry, piece: Piece) -> Array:
    """The elements in `content` as a piece of a variable."""
    try:
        value = from_content(content, entry.element, piece.shape)
    except ValueError as error:
        raise _DamagedValueError(f"It cannot have the shape {list(piece.shape)}: {error}.") from None
    if isinstance(value, NoValue):
        raise _DamagedValueError(value.text)
    return value


def _texts(content: memoryview, piece: Piece) -> Array:
    """Strings: their lengths, a checksum of those, then one string behind the other."""
    count, data = math.prod(piece.shape), bytes(content)
    if count > len(data):
        text = f"The shape {list(piece.shape)} has {count:,} strings, the file {len(data):,} bytes for them."
        raise _DamagedValueError(text)
    at, lengths = 0, []
    try:
        for _ in range(count):
            length, at = number_at(data, at)
            lengths.append(length)
    except DamagedTableError as error:
        raise _DamagedValueError(f"The lengths of its strings cannot be read: {error}.") from None
    told = b"".join(_length(length) for length in lengths) + data[at : at + _LENGTH.size]
    at += _LENGTH.size
    if at + sum(lengths) != len(data) or masked_checksum(told + data[at:]) != piece.checksum:
        raise _DamagedValueError(f"The checksum of its {piece.size:,} bytes at {piece.offset:,} does not fit.")
    found = np.empty(count, object)
    for place, length in enumerate(lengths):
        found[place] = data[at : at + length]
        at += length
    return found.reshape(piece.shape)


def _length(length: int) -> bytes:
    """A length as its checksum takes it."""
    return _LENGTH.pack(length) if length <= 0xFFFFFFFF else length.to_bytes(8, "little")
