"""A file of sorted keys with values, as the index of a checkpoint is (the table format of LevelDB).

The layout is that of https://github.com/google/leveldb/blob/main/doc/table_format.md: blocks of entries whose keys
leave out what they share with the one before, each with a byte that says how it is compressed and a checksum; a block
that tells where the others are; at the end of the file where that one is.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from tfdbg_cli.formats.recording.checksum import masked_checksum

MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
_FOOTER = 48  # bytes
_TRAILER = 5  # bytes behind a block: how it is compressed, its checksum
_NUMBER = Struct("<I")
_UNCOMPRESSED, _SNAPPY = 0, 1
_MOST_BYTES = 10  # of a number of 64 bits


class DamagedTableError(ValueError):
    """The file is no such table from `offset` on; the text is the reason."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class SortedTable:
    """The table in `data`. What is damaged of it is passed over, and told in `damages` with its place.

    Raises:
        DamagedTableError: the file is none, or its end is damaged.

    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.damages: list[tuple[int, str]] = []
        if len(data) < _FOOTER or data[-8:] != MAGIC:
            raise DamagedTableError("the mark at its end is missing, so it is cut off or no such file", len(data))
        footer = len(data) - _FOOTER
        at = footer
        for _ in range(2):  # of the second index, which nobody uses
            _, at = number_at(data, at)
        offset, at = number_at(data, at)
        size, _ = number_at(data, at)
        self._index = offset, size

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """The keys and values, in the order of the keys."""
        for _, handle in self._block(*self._index):
            try:
                offset, at = number_at(handle, 0)
                size, _ = number_at(handle, at)
                yield from self._block(offset, size)
            except DamagedTableError as error:
                self.damages.append((error.offset, str(error)))

    def _block(self, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        if offset + size + _TRAILER > len(self._data):
            raise DamagedTableError("a block lies beyond the end of the file", min(offset, len(self._data)))
        content = self._data[offset : offset + size]
        compression = self._data[offset + size]
        (checksum,) = _NUMBER.unpack_from(self._data, offset + size + 1)
        if masked_checksum(content + bytes([compression])) != checksum:
            raise DamagedTableError("the checksum of a block does not fit", offset)
        if compression != _UNCOMPRESSED:
            how = "with snappy" if compression == _SNAPPY else f"in way {compression}"
            raise DamagedTableError(f"a block is compressed {how}, which TensorFlow does not do", offset)
        if size < _NUMBER.size:
            raise DamagedTableError("a block is too short", offset)
        (restarts,) = _NUMBER.unpack_from(content, size - _NUMBER.size)
        end = size - _NUMBER.size * (restarts + 1)
        if end < 0:
            raise DamagedTableError("a block is too short", offset)
        return _entries(content[:end], offset)


def _entries(content: bytes, offset: int) -> Iterator[tuple[bytes, bytes]]:
    at, key = 0, b""
    while at < len(content):
        shared, at = number_at(content, at, offset)
        own, at = number_at(content, at, offset)
        length, at = number_at(content, at, offset)
        if shared > len(key) or at + own + length > len(content):
            raise DamagedTableError("an entry does not fit its block", offset + at)
        key = key[:shared] + content[at : at + own]
        at += own
        yield key, content[at : at + length]
        at += length


def number_at(data: bytes, at: int, offset: int = 0) -> tuple[int, int]:
    """The number that begins at a place in `data`, seven bits a byte, and the place behind it.

    Raises:
        DamagedTableError: there is none; `offset` is where `data` lies in its file.

    """
    number = 0
    for count in range(_MOST_BYTES):
        if at + count >= len(data):
            break
        byte = data[at + count]
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return number, at + count + 1
    raise DamagedTableError("a number does not end", offset + at)
