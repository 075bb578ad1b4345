"""Commands that take their time: a notice on the screen meanwhile, and Ctrl-C to stop them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tfdbg_cli.process.own_threads import OwnThread

_AFTER = 0.25  # seconds before the notice appears
_EVERY = 0.5


class Busy:
    """A context for a command that runs in the UI thread; `draw(seconds)` draws the notice that it is running.

    A thread draws the notice, but never while the UI thread draws: that one is inside the context, and has to take
    the lock to leave it.
    """

    def __init__(self, draw: Callable[[float], None] | None) -> None:
        self.running = False
        self._draw = draw
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Enter the context: within it Ctrl-C raises KeyboardInterrupt (see `App.interrupt`)."""
        over = threading.Event()
        if self._draw is not None:
            OwnThread(target=self._watch, args=(over, self._draw), name="tfdbg-busy", daemon=True).start()
        try:
            self.running = True
            yield
        finally:
            self.running = False
            with self._lock:
                over.set()

    def _watch(self, over: threading.Event, draw: Callable[[float], None]) -> None:
        seconds = _AFTER
        waited = over.wait(_AFTER)
        while not waited:
            with self._lock:
                if over.is_set():
                    return
                draw(seconds)
            waited = over.wait(_EVERY)
            seconds += _EVERY
