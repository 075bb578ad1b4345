"""Fetching parts of remote files in a thread, while the caller does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.formats.recording.stand_in import AwaitedError, Part, beside
from tfdbg_cli.process.own_threads import OwnThread

_AT_ONCE = 1 << 23  # bytes fetched between two checks whether they are still wanted
_AHEAD = 1 << 21  # bytes to read ahead when the steps begin anew the second time; doubled each further time
_MOST_AHEAD = 1 << 26
_MOST_FILES = 256  # small files that are prefetched, too
_LOOK = 0.01  # seconds that a step may wait, so that a key is answered after at most that

T = TypeVar("T")


def fetched(awaited: AwaitedError, before: int = 0) -> Generator[float, None, None]:
    """Fetch the parts in `awaited` in a thread; yield the share that has come (0 to 1) until all is there.

    `before` is how often the caller had to begin anew already; the more often, the more is read ahead. Closing the
    iterator stops the fetching after the piece that is under way.

    Raises:
        TfdbgError: the parts cannot be read.

    """
    fetching = _Fetching(awaited, before)
    OwnThread(target=fetching.work, name="tfdbg-fetching", daemon=True).start()
    try:
        while not fetching.over.wait(_LOOK):
            yield fetching.share
    finally:
        fetching.unwanted.set()
    if fetching.error is not None:
        raise TfdbgError(
            f"What this shows cannot be read: {_told(fetching.error)}.",
            hint="Ask again, or copy the recording to this machine.",
        ) from fetching.error


def in_steps(steps: Callable[[], Iterator[T]]) -> Generator[T | float, None, None]:
    """Iterate over `steps()` without blocking on remote data: if some are missing, fetch them and call `steps` again.

    While data are fetched, it yields the share that has come (0 to 1). Since they are restarted from the beginning,
    the steps have to cache what they have computed.

    Raises:
        TfdbgError: data cannot be fetched; and whatever the steps raise.

    """
    taken, before = steps(), 0
    while True:
        try:
            with beside():
                found = next(taken)
        except StopIteration:
            return
        except AwaitedError as awaited:
            yield from fetched(awaited, before)
            taken, before = steps(), before + 1
        else:
            yield found


def once_there(work: Callable[[], T], back: Callable[[], None]) -> T:
    """The result of `work()`, repeated until no remote data are missing; `back()` is called before each repetition.

    This blocks. A failure of the server is not cached: the next call asks it again.

    Raises:
        TfdbgError: data cannot be fetched; and whatever `work` raises.

    """
    before = 0
    while True:
        try:
            with beside():
                return work()
        except AwaitedError as awaited:
            back()
            for _ in fetched(awaited, before):
                pass  # short waits, so that Ctrl-C is handled in between
            before += 1


class _Fetching:
    """Fetches awaited parts piece by piece; from the second time on also what follows them in the file."""

    def __init__(self, awaited: AwaitedError, before: int) -> None:
        self.over = threading.Event()
        self.unwanted = threading.Event()
        self.share = 0.0
        self.error: Exception | None = None
        self._awaited = awaited
        self._parts = _with_what_follows(awaited, before) if before else awaited.parts
        self._files = min(_MOST_FILES, 1 << before) if before else 0

    def work(self) -> None:
        """Fetch until all is there, or `unwanted` is set. Runs in the thread; errors go to `error`."""
        awaited = self._awaited
        done, total = 0, sum(end - start for start, end in self._parts)
        try:
            for batch in _batches(self._parts):
                if self.unwanted.is_set():
                    return
                awaited.source.provide(awaited.path, batch)
                done += sum(end - start for start, end in batch)
                self.share = done / total
            if self._files and not self.unwanted.is_set():
                awaited.source.bring_behind(awaited.path, self._files)
        except Exception as error:  # noqa: BLE001  # else whoever waits for it asks again, for ever
            self.error = error
        finally:
            self.over.set()


def _told(error: Exception) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else reason_of(error)


def _with_what_follows(awaited: AwaitedError, before: int) -> list[Part]:
    """The awaited parts, and the missing bytes of the file right after them, since most readers go on from there."""
    end = awaited.parts[-1][1]
    ahead = min(_MOST_AHEAD, _AHEAD << (before - 1))
    missing = awaited.source.missing(awaited.path, [(end, end + ahead)])
    return [*awaited.parts, *(part for part in missing if part[0] >= end)]


def _batches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts in their order, as many together as are fetched at once; a long one in several."""
    batch: list[Part] = []
    size = 0
    for start, end in parts:
        for begin in range(start, end, _AT_ONCE):
            piece = begin, min(end, begin + _AT_ONCE)
            if batch and size + piece[1] - piece[0] > _AT_ONCE:
                yield batch
                batch, size = [], 0
            batch.append(piece)
            size += piece[1] - piece[0]
    if batch:
        yield batch
