"""Records that lie one behind the other, as TensorFlow writes them (TFRecord), many at once.

The layout is that of tensorflow/core/lib/io/record_writer.h: eight bytes of length, their checksum, the record, its
checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from struct import Struct

import numpy as np

from tfdbg_cli.formats.recording.checksum import checksums_fit, masked_checksums
from tfdbg_cli.model.values import Array

HEADER = Struct("<QI")
FOOTER = Struct("<I")
_LENGTH = 8  # bytes of it
FRAME = HEADER.size + FOOTER.size


@dataclass(frozen=True)
class FramedRecords:
    """Whole records in `content`, which lies at `start` in a file: where the frame of each begins, and its length."""

    start: int
    content: bytes
    begins: Array
    lengths: Array

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def end(self) -> int:
        """Where in the file the last of the records ends."""
        return self.start + (int(self.begins[-1] + self.lengths[-1]) + FRAME if len(self) else 0)

    @property
    def offsets(self) -> Array:
        """Where the frames begin in the file."""
        return self.begins + self.start

    @cached_property
    def octets(self) -> Array:
        """`content` as numbers."""
        return np.frombuffer(self.content, np.uint8)

    @property
    def spans(self) -> tuple[Array, Array]:
        """Where in `content` the records themselves begin and end."""
        begins = self.begins + HEADER.size
        return begins, begins + self.lengths

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The records themselves, each with where its frame begins in the file."""
        begins, ends = self.spans
        for offset, begin, end in zip(self.offsets.tolist(), begins.tolist(), ends.tolist(), strict=True):
            yield offset, self.content[begin:end]

    def sound(self) -> Array:
        """Which of the records are what was written, by their checksums."""
        begins, ends = self.spans
        behind = self.octets[ends[:, None] + np.arange(FOOTER.size)].view("<u4")[:, 0]
        return np.asarray(masked_checksums(self.octets, begins, self.lengths) == behind)


def placed(content: bytes, start: int, offsets: Array) -> FramedRecords:
    """The records that begin at `offsets` in a file, of which `content` lies at `start`; those that lie in it whole.

    No checksum is compared: whoever uses such a record asks whether it is `sound`.
    """
    begins = offsets - start
    begins = begins[(begins >= 0) & (begins <= len(content) - FRAME)]
    octets = np.frombuffer(content, np.uint8)
    lengths = octets[begins[:, None] + np.arange(_LENGTH)].view("<u8")[:, 0]
    whole = lengths <= (len(content) - FRAME - begins).astype(np.uint64)
    return FramedRecords(start, content, begins[whole], lengths[whole].astype(np.int64))


def framed(content: bytes, start: int) -> FramedRecords:
    """The records that follow each other from the beginning of `content`, as far as they lie in it as a whole.

    Checksums of lengths are compared, those of the records themselves are not.
    """
    begins: list[int] = []
    lengths: list[int] = []
    at, last = 0, len(content) - FRAME
    unpack = HEADER.unpack_from
    while at <= last:
        length = unpack(content, at)[0]
        if length > last - at:
            break
        begins.append(at)
        lengths.append(length)
        at += FRAME + length
    places = np.array(begins, np.int64)
    wrong = np.flatnonzero(~checksums_fit(np.frombuffer(content, np.uint8), places))
    count = int(wrong[0]) if len(wrong) else len(begins)
    return FramedRecords(start, content, places[:count], np.array(lengths[:count], np.int64))
