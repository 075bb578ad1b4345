"""Writing a recording beside the program: a queue with a bound, and a thread that empties it."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable

from tfdbg_cli.errors import reason_of
from tfdbg_cli.formats.container.stall import StallWatch, ThreadClock
from tfdbg_cli.formats.container.writer import LockedIndexError, RecordingWriter
from tfdbg_cli.formats.recording.waiting import PATIENCE
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.process.own_descriptor import settled_before_closing
from tfdbg_cli.process.own_threads import OwnThread

MOST_WAITING = 4
"""The maximal number of runs in the queue, including the one being written."""
_WORTH_A_WORD = 30.0  # seconds that a program has waited, a little at each run


class BackgroundWriter:
    """Writes runs by `writer` in a thread, from a bounded queue.

    The queue, including the run being written, holds at most `MOST_WAITING` runs and `room` bytes, but always one
    run: `add` blocks, and the program with it, while it is full. A killed process loses no more than that. The first
    failure is reported by `say`, and ends the recording; if only a reader had locked the index, just that run is
    lost. A forked process writes nothing.

    The thread is waited for, however slow it or the disk is. But if the disk takes not a single byte for `patience`
    seconds, and the thread computes nothing, as with a network file system whose server is away, runs are left out
    until it takes some again, and the end of the program does not wait.
    """

    def __init__(
        self,
        writer: RecordingWriter,
        room: int,
        say: Callable[[str], None],
        patience: float = PATIENCE,
        computed: Callable[[], float] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin. `computed` tells how many seconds the thread has computed by now; by default its clock does.

        `now` gives the time in seconds.
        """
        self._writer = writer
        self._room = room
        self._say = say
        self._patience = patience
        self._clock = ThreadClock()
        self._computed = computed or self._clock.seconds
        self._now = now
        self._waited = 0.0  # seconds that the program waited for room in the queue
        self._change = threading.Condition()
        self._queue: deque[tuple[Run, int]] = deque()
        self._waiting = 0  # bytes in the queue, including the run being written
        self._count = 0  # runs in the queue, including that one
        self._added = 0  # runs that came into the queue
        self._ended = False
        self._closed = False  # whether the writer is closed
        self._stalled_at: int | None = None  # `writer.moved` when the disk was given up
        self._process = os.getpid()
        self._notes: set[str] = set()
        self.written = 0
        self.left_out = 0
        self.failed = False
        self._put_closing_back = settled_before_closing(self.settle)
        self._thread = OwnThread(target=self._work, name="tfdbg-recorder", daemon=True)
        self._thread.start()

    def add(self, run: Run, nbytes: int) -> None:
        """Queue `run`, which holds `nbytes`. Blocks while the queue is full; if the disk stalls, leaves it out."""
        if os.getpid() != self._process:
            return
        with self._change:
            began = self._now()
            self._wait(lambda: self._stopped or not self._is_full(nbytes), self._tell_of_waiting)
            self._waited += self._now() - began
            if not self._stopped and self._is_full(nbytes):
                self.left_out += 1
            elif not self._stopped:
                self._queue.append((run, nbytes))
                self._waiting += nbytes
                self._count += 1
                self._added += 1
                self._change.notify_all()
        if self._waited >= _WORTH_A_WORD:
            self._tell_of_waiting()
        if self.left_out:
            self._tell(
                f"{self._writer.path} has taken nothing for {self._patience:.0f} s. The program goes on; its runs are"
                " left out of the recording until it takes some again."
            )

    @property
    def gone(self) -> bool:
        """Whether somebody has taken the recording away, with all that was written."""
        return self._writer.gone

    @property
    def folder_gone(self) -> bool:
        """Whether its folder was renamed or removed: under a new name it may be there."""
        return self._writer.folder_gone

    @property
    def kept(self) -> int:
        """How many of the runs written are still in the recording: the oldest may have been dropped."""
        return 0 if self.gone else self.written - self._writer.dropped

    def _is_full(self, nbytes: int) -> bool:
        return self._count >= MOST_WAITING or (self._count > 0 and self._waiting + nbytes > self._room)

    def _wait(self, holds: Callable[[], bool], say_so: Callable[[], None] = lambda: None) -> None:
        """Wait until `holds()`, or until the disk stalls; `say_so` is called where that takes long."""
        watch = StallWatch(self._patience, lambda: self._writer.moved, self._computed)
        while not holds():
            if self._stalled_at == self._writer.moved:
                return
            if self._change.wait(watch.between):
                watch.begin_anew()
                continue
            watch.look()
            if watch.stalled:
                self._stalled_at = self._writer.moved
            elif watch.takes_long:
                say_so()

    def _tell_of_waiting(self) -> None:
        self._tell(
            f"The program waits for its runs to be written in {self._writer.path}: that takes longer than they do."
            " With `--every N` one in N is recorded."
        )

    @property
    def _stopped(self) -> bool:
        return self._ended or self.failed

    def settle(self) -> None:
        """Wait until what was added before is written, or until the disk stalls; other threads may go on adding."""
        with self._change:
            last = self._added
            self._wait(lambda: self._stopped or self._added - self._count >= last)

    def close(self) -> int:
        """End the recording: wait until all is written, or until the disk stalls.

        Returns how many runs are not written yet; the thread goes on, so they may still be before the program ends.
        """
        if os.getpid() != self._process:
            return 0
        with self._change:
            self._ended = True
            self._change.notify_all()
            self._wait(lambda: self._closed, self._tell_of_waiting)
            return 0 if self.failed else self._count

    def _work(self) -> None:
        try:
            self._write_all()
            self._writer.close()
        except Exception as error:  # noqa: BLE001  # whatever it is, the program goes on
            self._fail(error)
        finally:  # the end of the program waits for it
            self._put_closing_back()
            with self._change:
                self._closed = True
                self._change.notify_all()

    def _write_all(self) -> None:
        self._clock.start()
        while True:
            with self._change:
                while not self._queue and not self._stopped:
                    self._change.wait()
                if not self._queue or self.failed:
                    break
                run, nbytes = self._queue.popleft()
            self._write(run)
            del run
            with self._change:
                self._waiting -= nbytes
                self._count -= 1
                self._stalled_at = None
                self._change.notify_all()

    def _write(self, run: Run) -> None:
        had = self._writer.dropped
        try:
            written = self._writer.write(run)
        except LockedIndexError as error:
            self._tell(str(error))
            return
        except Exception as error:  # noqa: BLE001  # whatever it is, the training goes on
            self._fail(error, 0 if self.folder_gone else self.kept)
            return
        self.written += 1
        if not had and self._writer.dropped:
            self._tell("The recording has reached its budget: from now on the oldest runs give way to new ones.")
        for note in written.notes:
            self._tell(note)

    def _tell(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.add(sentence)
            self._say(sentence)

    def _fail(self, error: Exception, kept: int = 0) -> None:
        """End the recording for `error`, and say so: `kept` are the runs of it that are there nevertheless."""
        with self._change:
            self.failed = True
            self._queue.clear()
            self._change.notify_all()
        reason = reason_of(error).removesuffix(".")
        if reason in self._notes:  # closing fails as writing did
            return
        self._notes.add(reason)
        before = f"{count_text(kept, 'run')} from before {'is' if kept == 1 else 'are'} kept. " if kept else ""
        self._tell(f"{reason}. {before}Nothing more is recorded; the program goes on.")
