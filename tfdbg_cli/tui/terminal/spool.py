"""Keeping what the program prints away from the screen, and giving it back in order when the screen is gone."""

from __future__ import annotations

import os
import tempfile
from io import FileIO

from tfdbg_cli.process.streams import flush_output, to_stderr

LIMIT = 32 << 20  # bytes kept of what each of two generations holds
_CHUNK = 1 << 16


class Spool:
    """Turns those of the file descriptors 1 and 2 that lead to a terminal into a temporary file.

    TensorFlow's C++ logs and other threads go on writing while the screen is up; nothing of it may tear the screen.
    A descriptor that leads to a pipe or file is left alone. `stop` gives everything back, in order.
    """

    def __init__(self, descriptors: tuple[int, ...] = (1, 2), limit: int = LIMIT) -> None:
        self._descriptors = descriptors
        self._limit = limit
        self._saved: dict[int, int] = {}
        self._files: list[FileIO] = []
        self._dropped = 0

    def start(self) -> None:
        """Begin to spool. Without room for a temporary file nothing is spooled."""
        flush_output()
        self._saved = {fd: os.dup(fd) for fd in self._descriptors if _is_terminal(fd)}
        if self._saved and not self._turn_over():
            self._give_back()

    def trim(self) -> bool:
        """Bound the disk it takes: what is too much is dropped, the oldest first. To be called now and then.

        Tells whether anything is kept.
        """
        if self._files and os.fstat(self._files[-1].fileno()).st_size > self._limit and self._turn_over():
            while len(self._files) > 2:
                oldest = self._files.pop(0)
                self._dropped += os.fstat(oldest.fileno()).st_size
                oldest.close()
        return bool(self._dropped) or any(os.fstat(file.fileno()).st_size for file in self._files)

    def stop(self) -> None:
        """End spooling and write what was kept to where it was meant for."""
        if not self._saved:
            return
        flush_output()
        target = os.dup(next(iter(self._saved.values())))
        try:
            if self._dropped:
                _write(target, f"[tfdbg: {self._dropped} bytes printed meanwhile were dropped]\n".encode())
            for file in self._files[:-1]:
                _replay(file, 0, target)
            # Other threads go on writing: the rest of the last file is read after its end is known.
            replayed = _replay(self._files[-1], 0, target)
            self._give_back()
            _replay(self._files[-1], replayed, target)
        except OSError as error:
            self._give_back()
            to_stderr(f"what was printed meanwhile is lost: {error.strerror}.")
        finally:
            os.close(target)
            for file in self._files:
                file.close()
            self._files = []
            self._dropped = 0

    def _turn_over(self) -> bool:
        """Send the descriptors to a new file."""
        try:
            file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by stop
        except OSError:
            return False
        # Both ends share one offset, so what is written through either is appended.
        for fd in self._saved:
            os.dup2(file.fileno(), fd)
        self._files.append(file)
        return True

    def _give_back(self) -> None:
        for fd, saved in self._saved.items():
            os.dup2(saved, fd)
            os.close(saved)
        self._saved = {}


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False


def _replay(file: FileIO, position: int, target: int) -> int:
    """Write the file from `position` on; gives the position reached. Leaves the offset, which writers share."""
    while chunk := os.pread(file.fileno(), _CHUNK, position):
        _write(target, chunk)
        position += len(chunk)
    return position


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
