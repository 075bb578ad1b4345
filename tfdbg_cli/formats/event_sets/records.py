"""Files of records, as TensorFlow writes them (TFRecord): each record has its length and a checksum around it.

The file may still be written, and end anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tfdbg_cli.formats.messages.framed_records import FOOTER, FRAME, HEADER, FramedRecords, framed, placed
from tfdbg_cli.formats.recording.checksum import masked_checksum, places_of_lengths
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.formats.recording.stand_in import read_at
from tfdbg_cli.model.values import Array

_WINDOW = 1 << 20  # bytes read at once
_FIRST_LOOK = 1 << 12  # bytes behind damage that are looked at first: a record is often near
_FARTHEST = 1 << 23  # bytes in which a record is looked for behind damage
_NEAR = 1 << 16  # bytes read at a record, for those behind it
_MOST_DAMAGES = 20  # told of one file
_MOST = (1 << 31) - 1  # bytes of a message of protobuf


class DamagedRecordError(ValueError):
    """A record cannot be used; the message is a sentence that names the file and the place in it."""


class FileRecord(NamedTuple):
    """A record of a file: where its frame begins, and its content."""

    offset: int
    content: bytes


@dataclass
class RecordFile:
    """A file of records. It may not be there: then it has none.

    `reached` is the end of the last whole record that was given; `ending` tells why it went no further, in a
    sentence, unless there was no more. `damages` tell of what was passed over, the first few of them.
    """

    path: Path
    reached: int = 0
    ending: str = ""
    damages: list[str] = field(default_factory=list)
    _window: tuple[int, bytes] = field(default=(0, b""), repr=False)
    _behind: dict[int, int] = field(default_factory=dict, repr=False)  # by damage, where the next record begins

    def again(self) -> RecordFile:
        """The same file from its beginning: where it goes on behind damage is not looked for once more."""
        return RecordFile(self.path, _behind=self._behind)

    @property
    def troubles(self) -> list[str]:
        """What is wrong with the file, as far as it was read, in sentences."""
        return [*self.damages, *([self.ending] if self.ending else [])]

    def scan(self) -> Iterator[FileRecord]:
        """The records behind those that were given before; begun with, the next million bytes count as given.

        Checksums of contents are not looked at: `read` does that. Ends at the first place that is no record.
        """
        for some in self.stretches():
            yield from (FileRecord(*found) for found in some.records())

    def stretches(self) -> Iterator[FramedRecords]:
        """The same records, as many at once as lie in some bytes of the file."""
        self.ending = ""
        try:
            with opened(self.path) as (file, size):
                yield from self._stretches(file, size)
        except FileNotFoundError:
            return
        except OSError as error:
            self.ending = f"The file {self.path.name} cannot be read: {error.strerror or error}."

    def _stretches(self, file: BinaryIO, size: int) -> Iterator[FramedRecords]:
        while self.reached < size:
            window = read_at(file, min(_WINDOW, size - self.reached), self.reached)
            some = framed(window, self.reached)
            if not len(some):
                if not self._is_alone(window, file, size):
                    if self.ending:
                        return
                    continue
                length = HEADER.unpack_from(window)[0]
                some = framed(read_at(file, FRAME + length, self.reached), self.reached)
                if not len(some):
                    self._cut_off(size)  # meanwhile
                    return
            self.reached = some.end
            yield some

    def _is_alone(self, window: bytes, file: BinaryIO, size: int) -> bool:
        """Whether a record longer than `window` begins here; else that is told, and passed over if it can be."""
        if len(window) < HEADER.size:
            self._cut_off(size)
            return False
        length, checksum = HEADER.unpack_from(window)
        if masked_checksum(window[:8]) != checksum:
            found = self._next_record(file, size)
            left_out = (size if found is None else found) - self.reached
            told = (
                f"The file {self.path.name} is damaged at byte {self.reached:,}: no record begins there,"
                f" and {left_out:,} bytes were left out."
            )
            if found is None:
                self.ending = told
                return False
            self.damages += [told] * (len(self.damages) < _MOST_DAMAGES)
            self.reached = found
            return False
        end = self.reached + FRAME + length
        if end > size:
            self._cut_off(size)
            return False
        if length > _MOST:
            told = str(self.damage(self.reached, "it is longer than any event"))
            self.damages += [told] * (len(self.damages) < _MOST_DAMAGES)
            self.reached = end
            return False
        return True

    def _cut_off(self, size: int) -> None:
        self.ending = (
            f"The file {self.path.name} ends in the middle of a record, at byte {size:,}: the record that begins at"
            f" byte {self.reached:,} was cut off, or is still being written."
        )

    def _next_record(self, file: BinaryIO, size: int) -> int | None:
        """Where the next record begins behind damage; None where none does, as far as is looked."""
        if self.reached not in self._behind:
            found = self._looked_for(file, size)
            if found is None:
                return None
            self._behind[self.reached] = found
        return self._behind[self.reached]

    def _looked_for(self, file: BinaryIO, size: int) -> int | None:
        start, end, width = self.reached + 1, min(size, self.reached + _FARTHEST), _FIRST_LOOK
        while start < end:
            window = read_at(file, width + HEADER.size, start)
            for place in places_of_lengths(window):
                if self._is_record(start + place):
                    return start + place
            start, width = start + width, min(4 * width, _WINDOW)
        return None

    def _is_record(self, offset: int) -> bool:
        try:
            self.read(offset)
        except DamagedRecordError:
            return False
        return True

    def last_offset(self) -> int | None:
        """Where the last whole record begins; None where there is none."""
        try:
            with opened(self.path) as (file, size):
                start = max(0, size - _WINDOW)
                window = read_at(file, _WINDOW, start)
        except OSError:
            return None
        places = reversed(places_of_lengths(window))
        near = next((start + place for place in places if self._is_record(start + place)), None)
        return self._last_by_lengths() if near is None else near

    def _last_by_lengths(self) -> int | None:
        """The same, from the first record on, without what is in long ones; None behind damage, too."""
        last, place = None, 0
        try:
            with opened(self.path) as (file, size):
                while place < size:
                    window = read_at(file, _NEAR, place)
                    some = framed(window, place)
                    if len(some):
                        last, place = int(some.offsets[-1]), some.end
                        continue
                    if len(window) < HEADER.size or masked_checksum(window[:8]) != HEADER.unpack_from(window)[1]:
                        return None
                    end = place + FRAME + HEADER.unpack_from(window)[0]
                    if end > size:
                        break
                    last, place = place, end
        except OSError:
            return None
        return last

    def read(self, offset: int) -> bytes:
        """The content of the record at `offset`, which `scan` told of, its checksum compared.

        Raises:
            DamagedRecordError: it is not what was written.

        """
        near = self._near(offset)
        if near is not None:
            return near
        try:
            with opened(self.path) as (file, size):
                self._window = offset, read_at(file, _NEAR, offset)
                near = self._near(offset)
                if near is not None:
                    return near
                header = read_at(file, HEADER.size, offset)
                length = HEADER.unpack(header)[0] if len(header) == HEADER.size else size
                if length > min(size - offset - FRAME, _MOST):
                    raise self.damage(offset, "it is cut off")
                content = read_at(file, length + FOOTER.size, offset + HEADER.size)
        except OSError as error:
            raise self.damage(offset, str(error.strerror or error)) from error
        if len(content) != length + FOOTER.size:
            raise self.damage(offset, "it is cut off")
        if masked_checksum(content[:length]) != FOOTER.unpack_from(content, length)[0]:
            raise self.damage(offset, "its checksum does not fit")
        return content[:length]

    def around(self, offsets: Array, size: int) -> FramedRecords:
        """The records at `offsets` that lie in the `size` bytes from the first on; none if they cannot be read.

        That they begin there is taken from whoever asks: their checksums tell.
        """
        start = int(offsets[0])
        try:
            with opened(self.path) as (file, _):
                content = read_at(file, size, start)
        except OSError:
            content = b""
        return placed(content, start, offsets)

    def _near(self, offset: int) -> bytes | None:
        """The content of the record at `offset` if it lies in what was read last, and is what was written."""
        start, window = self._window
        at = offset - start
        if at < 0 or at + HEADER.size > len(window):
            return None
        end = at + HEADER.size + int(HEADER.unpack_from(window, at)[0])
        if end + FOOTER.size > len(window):
            return None
        content = window[at + HEADER.size : end]
        return content if masked_checksum(content) == FOOTER.unpack_from(window, end)[0] else None

    def damage(self, offset: int, why: str) -> DamagedRecordError:
        """The error that tells of the record at `offset`."""
        return DamagedRecordError(f"The record at byte {offset:,} of {self.path.name} cannot be used: {why}.")
