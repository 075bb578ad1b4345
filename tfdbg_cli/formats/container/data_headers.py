"""The headers of data files: whether there is one, and whether it tells of the places that the index speaks of.

A file of another recording, in the place of one's own, holds other values.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.formats.container.layout import HEADERS, METADATA, RECORDING, data_file
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.formats.recording.stand_in import source_of

_LENGTH = 8  # bytes that say how long the header is
_MOST = 64 << 20  # bytes of a header that is looked at
_GLANCE = 1 << 16  # bytes of a header that are read where many files are asked about
_SOME = 256  # tensors that are compared at a glance
_OLDEST = "(SELECT min(run) FROM run_files WHERE file = ?1)"
_DESCRIPTION = f"SELECT description FROM runs WHERE id = {_OLDEST}"
_LATEST = "SELECT description FROM runs WHERE id = (SELECT max(run) FROM run_files WHERE file = ?)"
_SPANS = f"SELECT offset, stored FROM tensors WHERE run = {_OLDEST} AND file = ?1 AND stored > 0 LIMIT ?2"


class OwnFiles:
    """Tells data files of the recording in `root`, with this `index`, from others; each file is asked about once."""

    def __init__(self, root: Path, index: Index) -> None:
        self._root = root
        self._index = index
        self._known: dict[int, bool] = {}

    def is_foreign(self, number: int) -> bool:
        """Whether data file `number` names another recording, or tensors lie elsewhere in it than the index says.

        Of a file in another file system no more of the header is fetched than a glance takes.
        """
        known = self._known.get(number)
        if known is None:
            far = source_of(data_file(self._root, number)) is not None
            known = self._differs(number, _SOME, _GLANCE) if far else self._differs(number, -1, None)
            if known is not None or not far:  # a network that fails now may work the next time
                self._known[number] = bool(known)
        return bool(known)

    def seems_foreign(self, number: int) -> bool:
        """As `is_foreign`, from what is at hand: a glance at the header here, of a far file what was seen before."""
        known = self._known.get(number)
        if known is None and source_of(data_file(self._root, number)) is None:
            known = self._differs(number, _SOME, _GLANCE)
        return bool(known)

    def has_whole_header(self, number: int) -> bool:
        """Whether the header of data file `number` is one, and the one that was written, as far as its index tells.

        Indexes of earlier versions do not tell. Reads all of the header.
        """
        path = data_file(self._root, number)
        return has_header(path) and all(_adds_up(path, *each) for each in self._sums(number))

    def _sums(self, file: int) -> Iterator[tuple[int, int]]:
        """How long the beginning of the file was as its latest run was written, and what that adds up to."""
        try:
            found = self._index.one(_LATEST, file)
            sums = json.loads(found[0]).get(HEADERS, []) if found is not None else []
            for number, length, crc in sums:
                if number == file and isinstance(length, int) and isinstance(crc, int) and length <= _MOST:
                    yield length, crc
        except (ValueError, TypeError, AttributeError, RecursionError):  # DamagedIndexError among them
            return

    def _differs(self, number: int, some: int, most: int | None) -> bool | None:
        spans = self._spans(number, some)
        return is_of_another(data_file(self._root, number), spans, most, self._recording(number))

    def _recording(self, file: int) -> str | None:
        """The id of the recording by the oldest run in the file; None where the index is damaged there."""
        try:
            found = self._index.one(_DESCRIPTION, file)
            fields = json.loads(found[0]) if found is not None else None
        except (ValueError, TypeError, RecursionError):  # DamagedIndexError among them
            return None
        return _named(fields) if isinstance(fields, dict) else None

    def _spans(self, file: int, some: int) -> Sequence[tuple[int, int]]:
        """Where tensors lie that the oldest run in the file has there; nothing where the index is damaged."""
        try:
            found = self._index.rows(_SPANS, file, some)
        except DamagedIndexError:
            return ()  # what is read of such an index says so
        return [(at, at + stored) for at, stored in found if isinstance(at, int) and isinstance(stored, int)]


def is_of_another(
    path: Path, spans: Sequence[tuple[int, int]], most: int | None = None, recording: str | None = None
) -> bool | None:
    """Whether `spans`, where tensors are to begin and end, are others than those that the header tells of.

    One that names another recording than `recording`, if that is not None, is another's wherever tensors lie; the id
    of a recording from before tfdbg named them is empty.

    A crash leaves a header that tells of less, or of more: what it does not reach is not judged. None where it cannot
    be read, or names nothing. One of several that lies elsewhere is damage of that row, or of that entry. No
    more than the first `most` bytes of the header are read, if that is not None.
    """
    header = _header(path, most)
    if header is not None and recording is not None and _is_elsewhere(header[1], recording):
        return True
    places = list(_places(*header)) if header is not None else []
    if not places:
        return None
    there, end = set(places), max(end for _, end in places)
    reached = [span for span in spans if span[0] < end]
    elsewhere = sum(span not in there for span in reached)
    return elsewhere > 1 or 0 < elsewhere == len(reached)


def has_header(path: Path) -> bool:
    """Whether the file begins with a header of safetensors; one that is too long to be looked at counts as such."""
    return _header(path) is not None


def _adds_up(path: Path, length: int, crc: int) -> bool:
    """Whether the first `length` bytes of the file add up to `crc`, and behind them the header ends or goes on.

    It goes on where the program was killed before it told the index of a run.
    """
    try:
        with opened(path) as (file, _):
            content = file.read(length)
            room = int.from_bytes(content[:_LENGTH], "little")
            rest = file.read(max(0, min(room, _MOST) + _LENGTH - length))
    except (OSError, TfdbgError):
        return True  # what cannot be read is told of elsewhere
    return zlib.crc32(content) == crc and (rest.strip(b" ") == b"}" or rest.startswith(b","))


def _header(path: Path, most: int | None = None) -> tuple[int, Mapping[str, Any]] | None:
    """How long the header is, and what it says; nothing of a very long one. None where it cannot be read.

    Of one longer than `most` bytes it is what those say.

    A very long one lies in the file, and looks like a header where it begins and ends: else its length is damaged.
    """
    try:
        with opened(path) as (file, size):
            length = int.from_bytes(file.read(_LENGTH), "little")
            if length > _MOST and not (_LENGTH + length <= size and _seems_one(file, length)):
                return None
            content = b"{}" if length > _MOST else file.read(length if most is None else min(length, most))
            header = json.loads(_entries(content) if len(content) == most else content)
    except (OSError, ValueError, RecursionError, TfdbgError):
        return None
    return (length, header) if isinstance(header, dict) else None


def _entries(beginning: bytes) -> bytes:
    """The entries that are whole in the `beginning` of a header, as a header of their own."""
    return beginning[: beginning.rfind(b'},"') + 1] + b"}"  # in a name a quotation mark has a backslash before it


def _seems_one(file: BinaryIO, length: int) -> bool:
    """Whether the `length` bytes behind the first ones begin and end as a header does."""
    first = file.read(1)
    file.seek(_LENGTH + length - 1)
    return first == b"{" and file.read(1) in {b"}", b" "}


def _is_elsewhere(header: Mapping[str, Any], recording: str) -> bool:
    """Whether the header names another recording than that one, which is empty for one from before they had ids.

    Ids are drawn by chance, so those of two recordings differ nearly everywhere. Where they differ in a few places,
    or the header names none, it may be damaged there.
    """
    metadata = header.get(METADATA)
    named = _named(metadata if isinstance(metadata, dict) else {})
    alike = sum(one == other for one, other in zip(named, recording, strict=False))
    return bool(named) and 2 * alike < max(len(named), len(recording))


def _named(fields: Mapping[str, Any]) -> str:
    """The id of a recording among the fields; empty where there is none."""
    named = fields.get(RECORDING)
    return named if isinstance(named, str) else ""


def _places(length: int, header: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Where what the header names begins and ends, counted from the start of the file."""
    first = _LENGTH + length
    pairs = [entry.get("data_offsets") for entry in header.values() if isinstance(entry, dict)]
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, int) for one in pair):
            yield first + pair[0], first + pair[1]
