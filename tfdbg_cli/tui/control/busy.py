"""Commands that take their time: a notice on the screen meanwhile, and Ctrl-C to stop them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_AFTER = 0.25  # seconds before the notice appears
_EVERY = 0.5


class Busy:
    """Knows whether a command is running. `draw(seconds)` puts the notice on the screen.

    The notice is drawn by a thread of its own, but never while the UI's thread draws: that one is inside the
    command, and takes the lock before it goes on.
    """

    def __init__(self, draw: Callable[[float], None] | None) -> None:
        self.running = False
        self._draw = draw
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Around the work that Ctrl-C may stop (it raises KeyboardInterrupt there)."""
        over = threading.Event()
        if self._draw is not None:
            threading.Thread(target=self._watch, args=(over, self._draw), name="tfdbg-busy", daemon=True).start()
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
