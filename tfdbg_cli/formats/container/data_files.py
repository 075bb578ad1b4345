"""Writing elements into a few large safetensors files, one after the other.

A safetensors file begins with a header that names all that is in it. Room for it is left when a file begins, and it
is written anew when a run is complete; so the file is one that other tools read, while there is room for more runs.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path

from tfdbg_cli.formats.container.direct_writes import LEAST, DirectWrites, Moved
from tfdbg_cli.formats.container.elements import ElementBytes
from tfdbg_cli.formats.container.layout import METADATA, RECORDING, data_file, shape_text
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.process.own_descriptor import OwnDescriptor

_ALIGNED = 64
_LEAST_ROOM = 4096  # bytes for a header
_GROWTH = 1  # the header of a file gets spare room, as a multiple of what the headers of all files before it used
_SHARE = 32  # that spare room is at most 1/32 of the size of a file
_MOST_ROOM = 16 << 20  # bytes; other tools refuse files with very large headers
_LONGEST_TAG = "F8_E4M3"
_PADDING = 128  # bytes in the header for an entry of padding
_UNKNOWN_SHAPE = 20  # bytes in the header for the shape of strings, whose entry is a byte count
_PRIVATE = 0o600


Planned = tuple[str, Shape | None]
"""The name of a tensor that is going to be written, and the shape its entry will have, if that is known."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where the bytes of a tensor lie."""

    file: int
    offset: int
    stored: int
    encoding: int


@dataclass(frozen=True, slots=True)
class HeaderSum:
    """What the first `length` bytes of a data file, those of its header up to a run, add up to (CRC-32)."""

    file: int
    length: int
    crc: int


@dataclass
class _OpenFile:
    """The file that is written to.

    `header` is the header as of the last flush, without its closing brace: at first it names the recording alone.
    `entries` are those added since then; `kept` is what `end` was at the last flush, `crc` what the header and its
    length added up to.
    """

    number: int
    descriptor: OwnDescriptor
    writes: DirectWrites
    room: int  # bytes reserved for the header
    header: bytearray
    end: int = 0  # bytes of elements so far; elements begin after the header
    kept: int = 0
    crc: int = 0
    entries: list[str] = field(default_factory=list)
    _waiting: int = 0  # bytes of `entries`

    @property
    def size(self) -> int:
        return 8 + self.room + self.end

    @property
    def used(self) -> int:
        """Bytes of the header."""
        return len(self.header) + self._waiting + 1

    def begin(self) -> None:
        """Write a header that names no tensors."""
        content = (bytes(self.header) + b"}").ljust(self.room)
        length = self.room.to_bytes(8, "little")
        self.crc = zlib.crc32(length + self.header)
        self.writes.write_small(memoryview(length + content), 0)

    @property
    def header_sum(self) -> HeaderSum:
        """Of the header with all entries, though without its closing brace."""
        added = self._added()
        return HeaderSum(self.number, 8 + len(self.header) + len(added), zlib.crc32(added, self.crc))

    def unused_before(self, content: memoryview) -> int:
        """How many bytes of padding to put before `content` so that it need not be copied for writing."""
        at = 8 + self.room + self.end
        return self.writes.best_start(content, at) - at

    def pad(self, count: int) -> None:
        """Write padding with an entry of its own, since safetensors allows no gaps between entries."""
        if count:
            self.write(_head(f"padding/{self.end}", "U8", (count,)), memoryview(bytes(count)))

    def write(self, head: str, content: memoryview) -> int:
        start = self.end
        self.writes.write(content, 8 + self.room + start)
        self.end += len(content)
        entry = _entry(head, start, self.end)
        self.entries.append(entry)
        self._waiting += len(entry) + 1
        return start

    def flush(self) -> None:
        """Write everything, and the header that names it, through to the disk."""
        self.writes.flush()
        added = self._added()
        self.writes.write_small(memoryview(added + b"}"), 8 + len(self.header))
        os.fdatasync(self.descriptor.number)
        self.header += added
        self.crc = zlib.crc32(added, self.crc)
        self.entries.clear()
        self._waiting = 0
        self.kept = self.end

    def _added(self) -> bytes:
        """What was added to the header since the last flush."""
        added = ",".join(self.entries).encode("ascii")
        return b"," + added if added else b""

    def forget(self) -> None:
        """Undo everything since the last flush."""
        self.writes.drop()
        self.end = self.kept
        self.entries.clear()
        self._waiting = 0
        os.ftruncate(self.descriptor.number, self.size)
        rest = b"}".ljust(self.room - len(self.header))
        self.writes.write_small(memoryview(rest), 8 + len(self.header))


def _head(name: str, tag: str, shape: Shape) -> str:
    """The beginning of a tensor's entry in the header, up to its offsets."""
    return f'{quoted(name)}:{{"dtype":"{tag}","shape":[{shape_text(shape)}],"data_offsets":['


def _entry(head: str, start: int, end: int) -> str:
    """A tensor's entry in the header: `head`, and the bytes from `start` to before `end`."""
    return f"{head}{start},{end}]}}"


def _room_for(planned: Iterable[Planned], nbytes: int) -> int:
    """An upper bound of the header bytes for these tensors, if elements in the file take up to `nbytes`."""
    most = nbytes + _ALIGNED
    beside = len(_entry(_head("", _LONGEST_TAG, ()), most, most)) + len(",") - len(quoted(""))
    room = _PADDING
    for name, shape in planned:
        room += beside + len(quoted(name))
        room += _UNKNOWN_SHAPE if shape is None else len(shape_text(shape)) + len(",2")
    return room


def _padding_size(nbytes: int) -> int:
    """An upper bound of the header bytes for padding before a tensor of `nbytes`."""
    return _PADDING if nbytes >= LEAST else 0


class DataFiles:
    """The data files of the recording in `root`, from number `first` on; each says that it is of `recording`, an id.

    A new file is begun when the current one has `most` bytes of elements, or its header is full.
    """

    def __init__(self, root: Path, most: int, recording: str, first: int = 1) -> None:
        self._root = root
        self.recording = recording
        self._metadata = f'{{"{METADATA}":{{"{RECORDING}":{quoted(recording)}}}'.encode("ascii")
        self.most = most
        self.moved = Moved()
        self._next = first
        self._open: _OpenFile | None = None
        self._headers = self._elements = 0  # bytes of headers and of elements in files that are complete
        self._begun: list[int] = []  # since the last flush
        self._ended: dict[int, int] = {}  # bytes of files that are complete since the last flush
        self._ended_headers: list[HeaderSum] = []  # theirs

    def begin_run(self, planned: Sequence[Planned], sizes: Sequence[int]) -> None:
        """Make room in a header for the `planned` tensors; `sizes` are in bytes, as far as known. Raises OSError."""
        needed = _room_for(planned, sum(sizes) + (0 if self._open is None else self._open.end))
        needed += sum(map(_padding_size, sizes))
        if self._open is not None and (self._open.end >= self.most or self._open.used + needed > self._open.room):
            self.end_file()
        if self._open is None:
            self._begin(needed + self._growth())
        assert self._open is not None
        self._open.pad(-self._open.end % _ALIGNED)

    def add(self, name: str, elements: ElementBytes) -> Location:
        """Write `elements` under `name`, which no other tensor of the recording has. Raises OSError."""
        end = (0 if self._open is None else self._open.end) + len(elements.content)
        head = _head(name, elements.tag, elements.shape)
        needed = len(_entry(head, end, end)) + len(",")
        needed += _padding_size(len(elements.content))
        if self._open is not None and self._open.used + needed > self._open.room:
            self.end_file()
        if self._open is None:
            self._begin(needed + self._growth())
        assert self._open is not None
        self._open.pad(self._open.unused_before(elements.content))
        start = self._open.write(head, elements.content)
        return Location(self._open.number, 8 + self._open.room + start, len(elements.content), int(elements.encoding))

    def flush(self) -> Mapping[int, int]:
        """Write everything through to the disk; return the files written since the last flush, with their sizes.

        Raises OSError.
        """
        written, self._ended = self._ended, {}
        self._ended_headers.clear()
        if self._open is not None:
            self._open.flush()
            written[self._open.number] = self._open.size
        self._begun.clear()
        return written

    def header_sums(self) -> Sequence[HeaderSum]:
        """Of the headers of all files written since the last flush, with what is in them by now."""
        return [*self._ended_headers, *([] if self._open is None else [self._open.header_sum])]

    def end_file(self) -> None:
        """Write no more into the file that is open. Raises OSError."""
        if self._open is None:
            return
        self._open.flush()
        self._ended[self._open.number] = self._open.size
        self._ended_headers.append(self._open.header_sum)
        self._headers += self._open.used
        self._elements += self._open.end
        self._open.writes.close()
        self._open = None

    def abandon(self) -> None:
        """Undo everything since the last flush, including the files begun since. Raises OSError."""
        if self._open is not None and self._open.number not in self._begun:
            self._open.forget()
        elif self._open is not None:
            self._end_unwritten(self._open)
        begun, self._begun = self._begun, []
        self._ended.clear()
        self._ended_headers.clear()
        for number in begun:
            data_file(self._root, number).unlink(missing_ok=True)

    def remove(self, number: int) -> None:
        """Remove the file `number`, to which nothing points any more. Raises OSError."""
        if self._open is not None and self._open.number == number:
            self._end_unwritten(self._open)
        data_file(self._root, number).unlink(missing_ok=True)

    def _end_unwritten(self, file: _OpenFile) -> None:
        """Close `file`, which is removed next. Raises OSError."""
        self._open = None
        file.writes.drop()
        file.writes.close()

    def _growth(self) -> int:
        """Bytes to reserve in a new header for further runs, by the ratio of headers to elements so far."""
        a_file = self._headers * self.most // max(self._elements, 1)
        return min(_GROWTH * self._headers, self.most // _SHARE, a_file)

    def _begin(self, room: int) -> None:
        room = min(max(room + len(self._metadata), _LEAST_ROOM), _MOST_ROOM)
        room += -(room + 8) % _ALIGNED
        number = self._next
        self._next += 1
        path = data_file(self._root, number)
        path.parent.mkdir(PRIVATE_FOLDER, exist_ok=True)
        descriptor = OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE))
        self._begun.append(number)
        writes = DirectWrites(path, descriptor, self.moved)
        self._open = _OpenFile(number, descriptor, writes, room, bytearray(self._metadata))
        self._open.begin()
