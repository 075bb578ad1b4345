"""Writing elements into a file: large contents by direct I/O (O_DIRECT), where the file system supports it.

A recording is read later, if at all. Through the page cache it would evict what the program itself reads, and most of
the CPU time of writing would go into allocating pages.
"""

from __future__ import annotations

import errno
import mmap
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfdbg_cli.process.own_descriptor import OwnDescriptor

_BLOCK = mmap.PAGESIZE  # offsets and lengths of direct writes are multiples of this
_SECTOR = 512  # their memory is aligned to this, or copied to memory that is
_WIDEST = 16  # bytes of the widest element; addresses of arrays are normally aligned to it
_AT_ONCE = 1 << 20  # bytes copied or gathered at a time; fits into a core's cache
_AT_MOST = 1 << 30  # bytes per direct write; the kernel's limit is 2 GiB
_TOGETHER = 16 << 20  # bytes collected for one write: enough for throughput, few enough to see progress
_PIECES = 512  # buffers per write; the kernel's limit is 1024
_ASIDE = getattr(os, "O_DIRECT", 0)  # Linux has it

LEAST = 1 << 16
"""Bytes from which on direct I/O is worth while."""


@dataclass
class Moved:
    """How many `bytes` have been written to a recording's disk by now, to see whether it still makes progress."""

    bytes: int = 0


class DirectWrites:
    """Writes into the file at `path`, which is open as `descriptor`; `moved` counts the bytes. `close` at the end.

    Contents come in the order of their offsets. Small ones are gathered in a buffer, as a system call for each would
    cost more than copying them. Large ones are written from their own memory, without a copy, several of them in one
    call, since the thread would sleep after each and lose its caches. So contents must not change before `flush`.
    """

    def __init__(self, path: Path, descriptor: OwnDescriptor, moved: Moved | None = None) -> None:
        self._moved = moved or Moved()
        self._path = path
        self._descriptor = descriptor
        self._aside: OwnDescriptor | None = None  # a second descriptor of the file, opened with O_DIRECT
        self._possible = bool(_ASIDE)
        self._uncopied = True
        self._gathered = bytearray()
        self._gathered_at = 0  # where the first of them belongs
        self._waiting: list[memoryview] = []  # contiguous whole blocks for that descriptor
        self._waiting_at = 0  # where the first of them belongs
        self._waiting_end = 0
        self._joined_bytes = 0  # of what was gathered between them

    def best_start(self, content: memoryview, offset: int) -> int:
        """The first offset from `offset` on where `content` can be written directly without being copied."""
        if len(content) < LEAST or not self._begun() or not self._uncopied or _address(content) % _WIDEST:
            return offset
        return offset + (_address(content) - offset) % _SECTOR

    def write(self, content: memoryview, offset: int) -> None:
        """Write `content` at `offset`, at the latest when `flush` is called. Raises OSError."""
        done = 0
        if len(content) >= LEAST and self._begun():
            done = -offset % _BLOCK
            self._gather(content[:done], offset)
            blocks = content[done : len(content) - (offset + len(content)) % _BLOCK]
            if self._uncopied and _address(blocks) % _SECTOR == 0:
                self._put_off(blocks, offset + done)
                done += len(blocks)
            else:
                done += self._write_blocks(blocks, offset + done)
        if len(content) - done >= _AT_ONCE:
            self.write_small(content[done:], offset + done)
        else:
            self._gather(content[done:], offset + done)

    def _gather(self, content: memoryview, offset: int) -> None:
        """Keep `content` until there is more of it, or what comes next lies elsewhere."""
        if not content:
            return
        if offset != self._gathered_at + len(self._gathered) or len(self._gathered) >= _AT_ONCE:
            self._write_gathered()
        if not self._gathered:
            self._gathered_at = offset
        self._gathered += content

    def _put_off(self, blocks: memoryview, offset: int) -> None:
        """Keep `blocks`, which the disk takes from where they lie, until there is more of them."""
        if self._joins(offset):
            between = self._joined[self._joined_bytes :][: len(self._gathered)]
            between[:] = np.frombuffer(self._gathered, np.uint8)
            self._joined_bytes += len(between)
            self._gathered = bytearray()
            self._wait(between.data, self._gathered_at)
        self._wait(blocks, offset)
        if self._waiting_end - self._waiting_at >= _TOGETHER or len(self._waiting) >= _PIECES:
            self._write_waiting()

    def _joins(self, offset: int) -> bool:
        """Whether what was gathered are whole blocks, and end at `offset`."""
        count = len(self._gathered)
        whole = count > 0 and self._gathered_at % _BLOCK == 0 and self._gathered_at + count == offset
        return whole and self._joined_bytes + count <= len(self._joined)

    def _wait(self, blocks: memoryview, offset: int) -> None:
        if self._waiting and self._waiting_end != offset:
            self._write_waiting()
        if not self._waiting:
            self._waiting_at = offset
        self._waiting.append(blocks)
        self._waiting_end = offset + len(blocks)

    def _write_waiting(self) -> None:
        """Write the blocks that wait. Raises OSError."""
        waiting, self._waiting = self._waiting, []
        at = self._waiting_at
        while waiting and at % _SECTOR == 0 and self._uncopied and self._aside is not None:
            try:
                written = os.pwritev(self._aside.number, waiting, at)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                self._uncopied = False  # the disk asks for more of the memory it reads
                break
            at += written
            self._moved.bytes += written
            waiting = _behind(waiting, written)
        for blocks in waiting:
            done = self._write_blocks(blocks, at) if at % _SECTOR == 0 and self._aside is not None else 0
            self.write_small(blocks[done:], at + done)
            at += len(blocks)
        self._joined_bytes = 0

    def flush(self) -> None:
        """Write what was gathered, and what waits. Raises OSError."""
        self._write_waiting()
        self._write_gathered()

    def _write_gathered(self) -> None:
        gathered, self._gathered = self._gathered, bytearray()
        self.write_small(memoryview(gathered), self._gathered_at)

    def drop(self) -> None:
        """Forget what was gathered, and what waits."""
        self._gathered = bytearray()
        self._waiting.clear()
        self._joined_bytes = 0

    def write_small(self, content: memoryview, offset: int) -> None:
        """Write `content` at `offset` by way of the page cache. Raises OSError."""
        done = 0
        while done < len(content):
            written = os.pwrite(self._descriptor.number, content[done:], offset + done)
            done += written
            self._moved.bytes += written

    def close(self) -> None:
        """Write what is left, and no more. Raises OSError."""
        try:
            self.flush()
        finally:
            self._descriptor.close()
            self._end()

    def _begun(self) -> bool:
        if self._aside is None and self._possible:
            try:
                self._aside = OwnDescriptor(os.open(self._path, os.O_WRONLY | os.O_CLOEXEC | _ASIDE))
            except OSError:  # not on this file system
                self._possible = False
            else:
                self._room = np.frombuffer(mmap.mmap(-1, _AT_ONCE), np.uint8)  # begins with a page
                self._joined = np.frombuffer(mmap.mmap(-1, 2 * _AT_ONCE), np.uint8)
        return self._aside is not None

    def _write_blocks(self, content: memoryview, offset: int) -> int:
        """Write whole blocks; how many bytes were written. The rest goes the ordinary way, or says why not."""
        assert self._aside is not None
        done = 0
        while done < len(content):
            uncopied = self._uncopied and (_address(content) + done) % _SECTOR == 0
            part = content[done : done + (_AT_MOST if uncopied else _AT_ONCE)]
            try:
                written = os.pwrite(self._aside.number, part if uncopied else self._copied(part), offset + done)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                if uncopied:
                    self._uncopied = False  # the disk asks for more of the memory it reads
                    continue
                self._end()  # its blocks are larger
                return done
            done += written
            self._moved.bytes += written
            if written < len(part):
                return done
        return done

    def _copied(self, part: memoryview) -> memoryview:
        """`part` in memory that begins with a page."""
        np.copyto(self._room[: len(part)], np.frombuffer(part, np.uint8))
        return self._room[: len(part)].data

    def _end(self) -> None:
        self._possible = self._uncopied = False
        if self._aside is not None:
            self._aside.close()
            self._aside = None


def _behind(pieces: list[memoryview], count: int) -> list[memoryview]:
    """What is behind the first `count` bytes of `pieces`."""
    for at, piece in enumerate(pieces):
        if count < len(piece):
            return [piece[count:], *pieces[at + 1 :]]
        count -= len(piece)
    return []


def _address(content: memoryview) -> int:
    """Where `content` begins in memory."""
    found = np.frombuffer(content, np.uint8)
    return int(found.__array_interface__["data"][0])  # `found.ctypes` takes five times as long
