"""Writing into a file of elements: large contents past the page cache, where the file system can do that.

What a training records is read later, if at all. In the page cache it would take the place of what the program reads,
and for each page the kernel would look for memory, which takes most of the processor time of such writing.
"""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path

import numpy as np

_BLOCK = mmap.PAGESIZE  # what is written past the cache begins and ends at multiples of this
_LEAST = 1 << 16  # bytes of a content for which it is worth while
_AT_ONCE = 1 << 20  # bytes; so much stays in the cache of a core
_ASIDE = getattr(os, "O_DIRECT", 0)  # Linux has it


class DirectWrites:
    """Writes into the file at `path`, which is open as `descriptor`. `close` at the end."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._aside: int | None = None  # the same file, opened to be written to past the cache
        self._possible = bool(_ASIDE)

    def write(self, content: memoryview, offset: int) -> None:
        """Write `content` at `offset`. Raises OSError."""
        done = 0
        if len(content) >= _LEAST and self._begun():
            done = -offset % _BLOCK
            self.write_small(content[:done], offset)
            done += self._write_blocks(content[done : len(content) - (offset + len(content)) % _BLOCK], offset + done)
        self.write_small(content[done:], offset + done)

    def write_small(self, content: memoryview, offset: int) -> None:
        """Write `content` at `offset` by way of the page cache. Raises OSError."""
        done = 0
        while done < len(content):
            done += os.pwrite(self._descriptor, content[done:], offset + done)

    def close(self) -> None:
        """Write no more."""
        os.close(self._descriptor)
        self._end()

    def _begun(self) -> bool:
        if self._aside is None and self._possible:
            try:
                self._aside = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC | _ASIDE)
            except OSError:  # not on this file system
                self._possible = False
            else:
                self._room = np.frombuffer(mmap.mmap(-1, _AT_ONCE), np.uint8)  # begins with a page
        return self._aside is not None

    def _write_blocks(self, content: memoryview, offset: int) -> int:
        """Write whole blocks; how many bytes were written. The rest goes the ordinary way, or says why not."""
        assert self._aside is not None
        done = 0
        while done < len(content):
            part = content[done : done + _AT_ONCE]
            np.copyto(self._room[: len(part)], np.frombuffer(part, np.uint8))
            try:
                written = os.pwrite(self._aside, self._room[: len(part)].data, offset + done)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                self._end()  # its blocks are larger
                return done
            done += written
            if written < len(part):
                return done
        return done

    def _end(self) -> None:
        self._possible = False
        if self._aside is not None:
            os.close(self._aside)
            self._aside = None
