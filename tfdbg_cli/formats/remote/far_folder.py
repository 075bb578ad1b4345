"""A folder of this machine that stands for one elsewhere: its names and sizes at once, content when it is read."""

from __future__ import annotations

import errno
import os
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from tfdbg_cli.formats.recording.stand_in import Part
from tfdbg_cli.formats.recording.writing import free_disk
from tfdbg_cli.formats.remote.extents import Extents
from tfdbg_cli.formats.remote.far_file import FarFile
from tfdbg_cli.formats.remote.file_system import FileSystem, reason
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.scratch_folder import ScratchFolder

_BLOCK = 1 << 16  # what is brought begins and ends at multiples of this
_PIECE = 1 << 24  # bytes asked for in one question
_PIECES = 4  # that are on their way together, and in memory
_SMALL = 1 << 23  # bytes of all files together that are brought at once: asking for each takes longer
_MANY = 256  # files asked for together
_ENDS = "it is another one than when it was opened: it ends at byte {end:,}"
_LEFT_FREE = 1 << 28  # bytes of the disk that are left to others


class FarFolder:
    """Stands for `files` of `system`, by where they stand in `root`, which is made, and removed when Python ends."""

    def __init__(self, system: FileSystem, files: Mapping[str, FarFile]) -> None:
        scratch = ScratchFolder()
        scratch.delete_at_exit()
        self.root = Path(os.path.realpath(scratch.path))
        self._system = system
        self._lock = threading.Lock()
        self._far: dict[str, FarFile] = {}
        self._in_parts: dict[str, bool] = {}  # whether there are parts of a file, where one was asked for
        self._there: dict[str, Extents] = {}
        self._names: list[str] = []  # of the files that are no longer than a block, sorted, once they are asked for
        for name, far in files.items():
            here = os.path.join(self.root, *name.split("/"))  # noqa: PTH118 - there may be a hundred thousand
            os.makedirs(os.path.dirname(here), exist_ok=True)  # noqa: PTH103, PTH120
            with open(here, "xb") as file:  # noqa: PTH123
                file.truncate(far.size)
            self._far[here] = far

    def bring_small(self) -> None:
        """Bring all, if that is little. Raises OSError."""
        if sum(far.size for far in self._far.values()) > _SMALL:
            return
        with self._lock:
            wanted = [(here, (0, far.size)) for here, far in self._far.items() if far.size]
            for start in range(0, len(wanted), _MANY):
                self._bring(wanted[start : start + _MANY])

    def provide(self, path: str, parts: Sequence[Part]) -> None:
        """Have these parts of the file at `path` on the disk.

        Raises:
            OSError: they cannot be had: what the store said, or that there is no room.

        """
        far = self._far.get(path)
        if far is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not self.missing(path, parts):
            return  # whatever is on its way for others
        with self._lock:
            missing = self.missing(path, parts)
            if not missing:
                return
            is_asked_whole = missing == [(0, far.size)] and far.size <= _PIECE
            if not is_asked_whole and not self._gives_parts(path, far):
                missing = [(0, far.size)]
            self._require_room(sum(end - start for start, end in missing))
            if is_asked_whole or self._in_parts[path]:
                pieces = [(path, piece) for part in missing for piece in _pieces(part)]
                for start in range(0, len(pieces), _PIECES):
                    self._bring(pieces[start : start + _PIECES])
            else:
                self._bring_whole(path, far)
            self._require_same(path)

    def missing(self, path: str, parts: Sequence[Part]) -> list[Part]:
        """What is to be fetched for these parts of the file at `path`."""
        far = self._far.get(path)
        if far is None:
            return []
        there = self._there.get(path, Extents())
        return [part for start, end in parts for part in there.missing(*_widened(start, end, far.size))]

    def bring_behind(self, path: str, count: int) -> None:
        """Bring up to `count` other files of a block at most, those first whose names stand behind that one's.

        Raises:
            OSError: they cannot be had.

        """
        with self._lock:
            if not self._names:
                self._names = sorted(here for here, far in self._far.items() if 0 < far.size <= _BLOCK)
            at = bisect_right(self._names, path)
            missing = (here for here in (*self._names[at:], *self._names[:at]) if here not in self._there)
            self._bring([(here, (0, self._far[here].size)) for here in islice(missing, count)])

    def _require_room(self, wanted: int) -> None:
        if wanted > _BLOCK and wanted + _LEFT_FREE > (free := free_disk(self.root)):
            room = f"{bytes_text(wanted)} have to be kept here for a while, and {bytes_text(free)} are free"
            raise OSError(errno.ENOSPC, f"{room} in {self.root.parent} (TMPDIR names another place)")

    def _gives_parts(self, path: str, far: FarFile) -> bool:
        if path not in self._in_parts:
            with _asking():
                self._in_parts[path] = self._system.gives_parts(far.path, far.size)
        return self._in_parts[path]

    def _require_same(self, path: str) -> None:
        """Refuse what was fetched if the file is not the one any more that was there when others of it were."""
        far = self._far[path]
        with _asking():
            now = FarFile.of({**self._system.described(far.path), "name": far.path})
        if not far.is_still(now):
            self._there[path] = Extents()
            raise OSError(errno.EIO, "it is another one than when it was opened: somebody has written it anew")
        self._far[path] = now

    def _bring_whole(self, path: str, far: FarFile) -> None:
        with _asking(), open(path, "r+b") as file:  # noqa: PTH123
            self._system.fetch(far.path, file)
            end = file.tell()
        if end != far.size:
            os.truncate(path, far.size)
            raise OSError(errno.EIO, _ENDS.format(end=end))
        self._there.setdefault(path, Extents()).add(0, far.size)

    def _bring(self, pieces: Sequence[tuple[str, Part]]) -> None:
        if not pieces:
            return
        with _asking():
            contents = self._system.contents([(self._far[here].path, part) for here, part in pieces])
            found = list(zip(pieces, contents, strict=True))
        for (here, (start, end)), content in found:
            if len(content) != end - start:
                raise OSError(errno.EIO, _ENDS.format(end=start + len(content)))
            self._write(here, start, content)
            self._there.setdefault(here, Extents()).add(start, end)

    def _write(self, here: str, start: int, content: bytes) -> None:
        descriptor = os.open(here, os.O_WRONLY | os.O_CLOEXEC)
        try:
            done = 0
            while done < len(content):
                done += os.pwrite(descriptor, memoryview(content)[done:], start + done)
        finally:
            os.close(descriptor)


@contextmanager
def _asking() -> Iterator[None]:
    """While something is asked of a file system: whatever it raises is an OSError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever packages of stores and networks raise
        raise OSError(errno.EIO, f"it could not be fetched ({reason(error)})") from error


def _widened(start: int, end: int, size: int) -> Part:
    return max(0, start - start % _BLOCK), min(size, end + -end % _BLOCK)


def _pieces(part: Part) -> Iterator[Part]:
    start, end = part
    for begin in range(start, end, _PIECE):
        yield begin, min(end, begin + _PIECE)
