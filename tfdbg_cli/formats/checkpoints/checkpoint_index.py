"""What the index of a checkpoint says: its variables, and where their elements lie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfdbg_cli.formats.checkpoints.file_names import ENDING
from tfdbg_cli.formats.checkpoints.slice_key import slice_key
from tfdbg_cli.formats.checkpoints.sorted_table import DamagedTableError, SortedTable
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_header import MOST_DIMENSIONS, too_large
from tfdbg_cli.formats.messages.tensor_proto import shape_of
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.model.dtypes import ElementType, element_type
from tfdbg_cli.model.tensors import Shape

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_LARGEST = 1 << 30  # bytes of an index: a few hundred for each variable
_LITTLE = 0
_MOST_SLICES = 100_000


@dataclass(frozen=True, slots=True)
class Piece:
    """Where elements lie: from byte `offset` of a data file on. `starts` is where they belong in the variable."""

    shard: int
    offset: int
    size: int
    checksum: int
    shape: Shape
    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A variable as the index has it, in one piece or several; `trouble` says why it has none that fit."""

    key: str
    element: ElementType
    shape: Shape
    pieces: tuple[Piece, ...]
    trouble: str = ""


@dataclass
class CheckpointIndex:
    """The index at `path`: entries by key, in their order. Notes tell of what is damaged."""

    path: Path
    entries: Mapping[str, Entry]
    shards: int
    notes: list[str] = field(default_factory=list)

    @property
    def prefix(self) -> Path:
        """What TensorFlow calls the checkpoint: its path without the ending."""
        return self.path.with_name(self.path.name.removesuffix(ENDING))

    def data_file(self, shard: int) -> Path:
        """The file with that number in which elements lie."""
        return self.path.with_name(f"{self.prefix.name}.data-{shard:05d}-of-{self.shards:05d}")


def read_index(path: Path) -> CheckpointIndex:
    """The index at `path`.

    Raises:
        DamagedTableError: it is no index, or cannot be used.
        OSError: it cannot be read.

    """
    table = SortedTable(read_whole(path, _LARGEST))
    values = dict(table.entries())
    notes = [f"{path.name}: a block at byte {at:,} cannot be read: {reason}." for at, reason in table.damages]
    try:
        header = schema.CLASSES["BundleHeaderProto"].FromString(values.pop(b"", b""))
    except schema.DecodeError:
        raise DamagedTableError("its header cannot be read", 0) from None
    if header.endianness != _LITTLE:
        raise DamagedTableError("its numbers are big-endian", 0)
    found: dict[str, Entry] = {}
    for key, value in values.items():
        if key.startswith(b"\0"):
            continue  # a slice, which is looked up by the variable it is of
        name = key.decode("utf-8", "backslashreplace")
        try:
            proto = schema.CLASSES["BundleEntryProto"].FromString(value)
        except schema.DecodeError:
            notes.append(f"{path.name}: what it says of {name} cannot be read.")
            continue
        found[name] = _entry(name, key, proto, values)
    return CheckpointIndex(path, found, header.num_shards, notes)


def _entry(name: str, key: bytes, proto: Any, values: Mapping[bytes, bytes]) -> Entry:
    element, shape = element_type(proto.dtype), shape_of(proto.shape)
    if shape is None or min(shape, default=0) < 0 or len(shape) > MOST_DIMENSIONS or too_large(shape):
        return Entry(name, element, (), (), "Its shape is one that no variable can have.")
    if not proto.slices:
        whole = Piece(proto.shard_id, proto.offset, proto.size, proto.crc32c, shape, (0,) * len(shape))
        return Entry(name, element, shape, (whole,))
    pieces = []
    for one in proto.slices[:_MOST_SLICES]:
        extents = [
            (extent.start, extent.length if extent.WhichOneof("has_length") else None) for extent in one.extent
        ]
        try:
            part = schema.CLASSES["BundleEntryProto"].FromString(values[slice_key(key, extents)])
        except (KeyError, OverflowError, schema.DecodeError):
            return Entry(name, element, shape, (), "One of its slices is missing in the index.")
        starts = tuple(start for start, _ in extents)
        own = shape_of(part.shape)
        if own is None or not _fits(own, starts, shape):
            return Entry(name, element, shape, (), "One of its slices lies outside of it.")
        pieces.append(Piece(part.shard_id, part.offset, part.size, part.crc32c, own, starts))
    if sum(math.prod(piece.shape) for piece in pieces) != math.prod(shape):
        return Entry(name, element, shape, (), "Its slices are not all of it.")
    return Entry(name, element, shape, tuple(pieces))


def _fits(own: Shape, starts: tuple[int, ...], shape: Shape) -> bool:
    """Whether a slice of that shape, from `starts` on, lies in a variable of `shape`."""
    if not len(own) == len(starts) == len(shape):
        return False
    return all(
        start >= 0 and 0 <= size <= whole - start for size, start, whole in zip(own, starts, shape, strict=True)
    )
