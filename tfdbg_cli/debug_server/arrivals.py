"""Runs that have arrived whole, one behind the other, and the streams that are held until each was looked at."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfdbg_cli.formats.streamed.assembly import Assembly


class Arrival:
    """A run that came, `assembled` of the events of one stream, whose end the program waits for."""

    def __init__(self, assembled: Assembly) -> None:
        self.assembled = assembled
        self._released = threading.Event()

    def release(self) -> None:
        """Let the program go on, and give back the room that the values took."""
        if not self.released:
            self.assembled.tensors.release()
            self._released.set()

    @property
    def released(self) -> bool:
        """Whether the program goes on."""
        return self._released.is_set()

    def wait(self) -> None:
        """Block until it is released."""
        self._released.wait()


class Arrivals:
    """What came and was not looked at yet. The threads of streams put in, the one of the prompt takes out."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self._held: list[Arrival] = []  # waiting or looked at, or dropped where Ctrl-C came between the two
        self._lock = threading.Lock()
        self._open = 0
        self._heard = 0
        self.ignored = False  # whether streams are answered, and nothing of them is kept

    @contextmanager
    def stream(self) -> Iterator[None]:
        """A stream that is open meanwhile."""
        with self._lock:
            self._open += 1
            self._heard += 1
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                self._heard += 1

    @property
    def open(self) -> int:
        """How many streams are open."""
        return self._open

    @property
    def heard(self) -> int:
        """A number that is another one when a stream has begun or ended meanwhile."""
        return self._heard

    def leave(self, assembled: Assembly) -> Arrival:
        """Have the run looked at that was `assembled`."""
        arrival = Arrival(assembled)
        with self._lock:
            if not self.ignored and not assembled.is_empty:
                self._held = [*(one for one in self._held if not one.released), arrival]
                self._waiting.put(arrival)
                return arrival
        arrival.release()
        return arrival

    def hold(self, assembled: Assembly) -> None:
        """Have the run looked at that was `assembled`, and block until it was."""
        self.leave(assembled).wait()

    def next(self, seconds: float) -> Arrival | None:
        """The run that has waited longest; None where none comes within so many seconds."""
        try:
            return self._waiting.get(timeout=seconds)
        except queue.Empty:
            return None

    def ignore(self) -> None:
        """Keep nothing from now on, and let all programs go on that wait."""
        with self._lock:
            self.ignored = True
            held, self._held = self._held, []
        for arrival in held:
            arrival.release()
        while self.next(0) is not None:
            pass
