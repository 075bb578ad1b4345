"""Writing past the page cache: the same bytes, wherever they lie and whatever the file system can do."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.formats.container.direct_writes import DirectWrites
from tfdbg_cli.process.own_descriptor import OwnDescriptor

_SIZES = (0, 1, 4095, 4096, 65_535, 65_536, 65_537, 70_000, 1 << 20, (1 << 20) + 4096, (3 << 20) + 77, 5, 200_000)


def _written(path: Path) -> tuple[bytes, bytes]:
    """What was written, in contents of many sizes one after the other, and what lies in the file."""
    chance = np.random.default_rng(1)
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)))
    expected = b""
    for size in (*_SIZES, *reversed(_SIZES)):
        content = chance.integers(0, 256, size, np.uint8)
        writes.write(content.data, len(expected))
        expected += content.tobytes()
    writes.close()
    return expected, path.read_bytes()


def test_contents_of_all_sizes_lie_one_after_the_other(tmp_path: Path) -> None:
    expected, found = _written(tmp_path / "x")
    assert found == expected


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no writes past the cache on this system")
def test_a_file_system_without_such_writes_gets_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = os.open

    def refuses(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return plain(path, flags, mode)

    monkeypatch.setattr(os, "open", refuses)
    expected, found = _written(tmp_path / "x")
    assert found == expected


def _aligned(content: memoryview, offset: int) -> bool:
    return len(content) >= 4096 and offset % 4096 == 0 and len(content) % 4096 == 0


def _refused(_: Callable[..., int], *__: object) -> int:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def _short(plain: Callable[..., int], descriptor: int, content: memoryview, offset: int) -> int:
    return plain(descriptor, content[:4096], offset)


@pytest.mark.parametrize("answer", [_refused, _short])
def test_a_block_that_is_refused_or_cut_short_is_written_the_ordinary_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[..., int]
) -> None:
    plain = os.pwrite
    answered: list[int] = []

    def pwrite(descriptor: int, content: memoryview, offset: int) -> int:
        if _aligned(content, offset) and not answered:
            answered.append(offset)
            return answer(plain, descriptor, content, offset)
        return plain(descriptor, content, offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    path = tmp_path / "x"
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT)))
    content = _lying_at(64, 3 << 20)  # not where the disk could take it from
    writes.write(content.data, 0)
    writes.close()
    assert answered == [0] and path.read_bytes() == content.tobytes()


def _lying_at(address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes that begin at `address`, counted from a page."""
    room = np.frombuffer(mmap.mmap(-1, address + size), np.uint8)
    content = room[address:]
    content[:] = np.random.default_rng(address).integers(0, 256, size, np.uint8)
    return content


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no writes past the cache on this system")
@pytest.mark.parametrize("refused", [False, True])
def test_what_begins_where_it_lies_in_memory_is_written_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    plain, together, taken = os.pwrite, os.pwritev, []

    def pwrite(descriptor: int, content: memoryview, offset: int) -> int:
        note(descriptor, content)
        return plain(descriptor, content, offset)

    def pwritev(descriptor: int, contents: list[memoryview], offset: int) -> int:
        for content in contents:
            note(descriptor, content)
        return together(descriptor, contents, offset)

    def note(descriptor: int, content: memoryview) -> None:
        if len(content) >= 4096:
            address = np.frombuffer(content, np.uint8).ctypes.data
            taken.append(address)
            if refused and address % 4096 and descriptor != ordinary:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    path = tmp_path / "x"
    ordinary = os.open(path, os.O_WRONLY | os.O_CREAT)
    writes = DirectWrites(path, OwnDescriptor(ordinary))
    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(os, "pwritev", pwritev)
    found = []
    end = 100
    for address, size in ((64, 200_000), (576, 70_000), (0, 1 << 21), (48, 66_000), (64, 5 << 20)):
        content = _lying_at(address, size)
        start = writes.best_start(content.data, end)
        assert end <= start < end + 512 and (refused or (content.ctypes.data - start) % 512 == 0)
        writes.write(content.data, start)
        found.append((start, content))
        end = start + size
    assert writes.best_start(memoryview(bytes(100)), 7) == 7
    assert writes.best_start(_lying_at(3, 1 << 16).data, 7) == 7
    writes.flush()
    written = path.read_bytes()
    assert len(written) == end and taken
    places = [range(content.ctypes.data, content.ctypes.data + content.size) for _, content in found]
    assert refused or all(any(address in place for address in taken) for place in places)
    start = writes.best_start(found[2][1].data, end)
    assert (start == end) is refused
    writes.close()
    assert all(written[start : start + content.size] == content.tobytes() for start, content in found)


def _large_ones(path: Path) -> tuple[DirectWrites, list[tuple[int, np.ndarray[Any, np.dtype[np.uint8]]]]]:
    """Contents that wait to be written at once, and small ones between them; and where each begins."""
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT)))
    written, end = [], 0
    for size in (100_000, 70, 300_000, 5, 6, 70_000):
        content = _lying_at(64 * len(written), size)
        start = writes.best_start(content.data, end)
        writes.write(memoryview(bytes(start - end)), end)
        writes.write(content.data, start)
        written.append((start, content))
        end = start + size
    return writes, written


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no writes past the cache on this system")
@pytest.mark.parametrize("count", [None, 512, 4096, 1000, 98_304, 200_000], ids=str)
def test_large_contents_are_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int | None
) -> None:
    """The disk takes all of them, or so many bytes the first time."""
    plain, answered = os.pwritev, []

    def pwritev(descriptor: int, contents: list[memoryview], offset: int) -> int:
        answered.append(len(contents))
        if len(answered) == 1 and count is not None:
            return os.pwrite(ordinary, b"".join(contents)[:count], offset)
        return plain(descriptor, contents, offset)

    path = tmp_path / "x"
    ordinary = os.open(path, os.O_WRONLY | os.O_CREAT)
    monkeypatch.setattr(os, "pwritev", pwritev)
    writes, written = _large_ones(path)
    assert not answered
    writes.flush()
    found = path.read_bytes()
    assert all(found[start : start + content.size] == content.tobytes() for start, content in written)
    assert answered[0] == 5  # three large ones, and what lies between them
    writes.close()
    os.close(ordinary)


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no writes past the cache on this system")
def test_of_what_waits_nothing_is_written_once_it_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    writes, written = _large_ones(path)
    writes.drop()
    writes.close()
    assert not path.stat().st_size

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writes, written = _large_ones(path)
    with monkeypatch.context() as disk:
        disk.setattr(os, "pwritev", full)
        with pytest.raises(OSError, match="No space left"):
            writes.flush()
    writes.drop()
    start, content = written[0]
    writes.write(content.data, start)
    writes.close()
    assert path.read_bytes() == bytes(start) + content.tobytes()


def test_small_contents_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT)))
    plain, taken = os.pwrite, []

    def pwrite(descriptor: int, content: memoryview, offset: int) -> int:
        taken.append((offset, len(content)))
        return plain(descriptor, content, offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    content = np.random.default_rng(0).integers(0, 256, 5000, np.uint8)
    for start in range(0, 5000, 50):
        writes.write(content.data[start : start + 50], start)
    assert not taken
    writes.flush()
    assert taken == [(0, 5000)] and path.read_bytes() == content.tobytes()
    writes.write(memoryview(b"elsewhere"), 6000)
    writes.write(memoryview(b"before"), 5994)
    assert taken[1:] == [(6000, 9)]
    writes.drop()
    writes.write(memoryview(b"!"), 6009)
    writes.close()
    assert path.read_bytes() == content.tobytes() + bytes(1000) + b"elsewhere!"
    room = 1 << 20  # what waits has a bound
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY)))
    for at in range(40):
        writes.write(memoryview(bytes(60_000)), 60_000 * at)
    assert max(size for _, size in taken) < room + 60_000 and taken[-1][0] >= room
    writes.close()


def test_what_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "x"
    writes = DirectWrites(path, OwnDescriptor(os.open(path, os.O_WRONLY | os.O_CREAT)))
    monkeypatch.setattr(os, "pwrite", full)
    monkeypatch.setattr(os, "pwritev", full)
    with pytest.raises(OSError, match="No space left"):
        writes.write(memoryview(bytes(1 << 20)), 0)
        writes.flush()  # what happens to lie where the disk takes it from waits
    monkeypatch.undo()
    writes.close()
