"""Parts of files that lie far away, fetched by a thread of its own while whoever waits does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.stand_in import AwaitedError, Part, beside

_AT_ONCE = 1 << 23  # bytes between two looks whether they are still wanted
_AHEAD = 1 << 21  # bytes that are fetched with those asked for the second time; each further time twice as many
_MOST_AHEAD = 1 << 26
_MOST_FILES = 256  # small ones that come along with them
_LOOK = 0.01  # seconds that a step waits: who takes steps between two keys keeps them waiting no longer

T = TypeVar("T")


def fetched(awaited: AwaitedError, before: int = 0) -> Generator[float, None, None]:
    """Fetch what was `awaited`, and give from time to time how much of it is there.

    `before` says how often who asked began anew already: to make that seldom, what follows comes along then.
    Who takes no further step ends it, once he closes the iterator: what is under way then comes, and no more.

    Raises:
        TfdbgError: it cannot be had.

    """
    fetching = _Fetching(awaited, before)
    threading.Thread(target=fetching.work, name="tfdbg-fetching", daemon=True).start()
    try:
        while not fetching.over.wait(_LOOK):
            yield fetching.share
    finally:
        fetching.unwanted.set()
    if fetching.error is not None:
        raise TfdbgError(
            f"What this shows cannot be read: {fetching.error.strerror or fetching.error}.",
            hint="Ask again, or copy the recording to this machine.",
        )


def in_steps(steps: Callable[[], Iterator[T]]) -> Generator[T | float, None, None]:
    """Take the `steps`, none of which waits for what lies far away; they begin anew when that has come.

    While it comes each step gives the share of it that is there. What they did before they have to keep.

    Raises:
        TfdbgError: it cannot be had, or what the steps raise.

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
    """What `work` gives, once all is there that lies far away: it is done anew then, and `back` undoes it before.

    A server that fails is an error, of which nothing is kept: the next attempt asks it again.

    Raises:
        TfdbgError: it cannot be had, or what the work raises.

    """
    before = 0
    while True:
        try:
            with beside():
                return work()
        except AwaitedError as awaited:
            back()
            for _ in fetched(awaited, before):
                pass  # Ctrl-C comes through
            before += 1


class _Fetching:
    """The fetching of what was awaited, piece by piece; of what follows, too, where it was not the first time."""

    def __init__(self, awaited: AwaitedError, before: int) -> None:
        self.over = threading.Event()
        self.unwanted = threading.Event()
        self.share = 0.0
        self.error: OSError | None = None
        self._awaited = awaited
        self._parts = _with_what_follows(awaited, before) if before else awaited.parts
        self._files = min(_MOST_FILES, 1 << before) if before else 0

    def work(self) -> None:
        """Fetch until all is there, or nobody wants it any more."""
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
        except OSError as error:
            self.error = error
        finally:
            self.over.set()


def _with_what_follows(awaited: AwaitedError, before: int) -> list[Part]:
    """The parts that were awaited, and what is missing of the file behind them: most read on from there."""
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
