"""Files of records, as TensorFlow writes them (TFRecord): each record has its length and a checksum around it.

The layout is that of tensorflow/core/lib/io/record_writer.h: eight bytes of length, their checksum, the record, its
checksum. The file may still be written, and end anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from tfdbg_cli.formats.recording.checksum import masked_checksum, places_of_lengths
from tfdbg_cli.formats.recording.regular_file import opened

_HEADER = Struct("<QI")
_FOOTER = Struct("<I")
_FRAME = _HEADER.size + _FOOTER.size
_WINDOW = 1 << 20  # bytes read at once
_FIRST_LOOK = 1 << 12  # bytes behind damage that are looked at first: a record is often near
_FARTHEST = 1 << 23  # bytes in which a record is looked for behind damage
_NEAR = 1 << 16  # bytes read at a record, for those behind it
_MOST_DAMAGES = 20  # told of one file
_MOST = (1 << 31) - 1  # bytes of a message of protobuf


class DamagedRecordError(ValueError):
    """A record cannot be used; the message is a sentence that names the file and the place in it."""


class Record(NamedTuple):
    """A record of a file: where it begins, how many bytes it has, and its content.

    Of a record longer than was asked for only the beginning is there.
    """

    offset: int
    length: int
    content: bytes

    @property
    def whole(self) -> bool:
        """Whether the content is all of the record."""
        return len(self.content) == self.length


@dataclass
class RecordFile:
    """A file of records. It may not be there: then it has none.

    `reached` is the end of the last whole record that `scan` gave; `ending` tells why it went no further, in a
    sentence, unless there was no more. `damages` tell of what was passed over, the first few of them.
    """

    path: Path
    reached: int = 0
    ending: str = ""
    damages: list[str] = field(default_factory=list)
    _window: tuple[int, bytes] = field(default=(0, b""), repr=False)

    @property
    def troubles(self) -> list[str]:
        """What is wrong with the file, as far as it was read, in sentences."""
        return [*self.damages, *([self.ending] if self.ending else [])]

    def scan(self, most: int = _MOST) -> Iterator[Record]:
        """The records behind those that were given before, with up to `most` bytes of their content.

        Checksums of contents are not looked at: `read` does that. Ends at the first place that is no record.
        """
        self.ending = ""
        try:
            with opened(self.path) as (file, size):
                yield from self._scan(file.fileno(), size, most)
        except FileNotFoundError:
            return
        except OSError as error:
            self.ending = f"The file {self.path.name} cannot be read: {error.strerror or error}."

    def _scan(self, descriptor: int, size: int, most: int) -> Iterator[Record]:
        start, window = self.reached, b""
        while self.reached < size:
            at = self.reached - start
            if len(window) - at < _HEADER.size:
                start, window, at = self.reached, os.pread(descriptor, _WINDOW, self.reached), 0
            if len(window) < _HEADER.size:
                self._cut_off(size)
                return
            length, checksum = _HEADER.unpack_from(window, at)
            if masked_checksum(window[at : at + 8]) != checksum:
                found = self._next_record(descriptor, size)
                left_out = (size if found is None else found) - self.reached
                told = (
                    f"The file {self.path.name} is damaged at byte {self.reached:,}: no record begins there,"
                    f" and {left_out:,} bytes were left out."
                )
                if found is None:
                    self.ending = told
                    return
                self.damages += [told] * (len(self.damages) < _MOST_DAMAGES)
                self.reached, start, window = found, found, b""
                continue
            end = self.reached + _FRAME + length
            if end > size:
                self._cut_off(size)
                return
            wanted = min(length, most)
            if at + _HEADER.size + wanted > len(window):
                start, at = self.reached, 0
                window = os.pread(descriptor, max(_WINDOW, _HEADER.size + wanted), start)
            content = window[at + _HEADER.size : at + _HEADER.size + wanted]
            offset, self.reached = self.reached, end
            yield Record(offset, length, content)
            if self.reached - start > len(window):
                start, window = self.reached, b""

    def _cut_off(self, size: int) -> None:
        self.ending = (
            f"The file {self.path.name} ends in the middle of a record, at byte {size:,}: the record that begins at"
            f" byte {self.reached:,} was cut off, or is still being written."
        )

    def _next_record(self, descriptor: int, size: int) -> int | None:
        """Where the next record begins behind damage; None where none does, as far as is looked."""
        start, end, width = self.reached + 1, min(size, self.reached + _FARTHEST), _FIRST_LOOK
        while start < end:
            window = os.pread(descriptor, width + _HEADER.size, start)
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
        """Where the last whole record begins; None where it is longer than what is looked at, or there is none."""
        try:
            with opened(self.path) as (file, size):
                start = max(0, size - _WINDOW)
                window = os.pread(file.fileno(), _WINDOW, start)
        except OSError:
            return None
        places = reversed(places_of_lengths(window))
        return next((start + place for place in places if self._is_record(start + place)), None)

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
                self._window = offset, os.pread(file.fileno(), _NEAR, offset)
                near = self._near(offset)
                if near is not None:
                    return near
                header = os.pread(file.fileno(), _HEADER.size, offset)
                length = _HEADER.unpack(header)[0] if len(header) == _HEADER.size else size
                if length > min(size - offset - _FRAME, _MOST):
                    raise self.damage(offset, "it is cut off")
                content = os.pread(file.fileno(), length + _FOOTER.size, offset + _HEADER.size)
        except OSError as error:
            raise self.damage(offset, str(error.strerror or error)) from error
        if len(content) != length + _FOOTER.size:
            raise self.damage(offset, "it is cut off")
        if masked_checksum(content[:length]) != _FOOTER.unpack_from(content, length)[0]:
            raise self.damage(offset, "its checksum does not fit")
        return content[:length]

    def _near(self, offset: int) -> bytes | None:
        """The content of the record at `offset` if it lies in what was read last, and is what was written."""
        start, window = self._window
        at = offset - start
        if at < 0 or at + _HEADER.size > len(window):
            return None
        end = at + _HEADER.size + int(_HEADER.unpack_from(window, at)[0])
        if end + _FOOTER.size > len(window):
            return None
        content = window[at + _HEADER.size : end]
        return content if masked_checksum(content) == _FOOTER.unpack_from(window, end)[0] else None

    def damage(self, offset: int, why: str) -> DamagedRecordError:
        """The error that tells of the record at `offset`."""
        return DamagedRecordError(f"The record at byte {offset:,} of {self.path.name} cannot be used: {why}.")
