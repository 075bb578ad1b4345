"""A recording that is still being written: new runs, looked for in a thread, so that nobody waits for a disk."""

from __future__ import annotations

import threading

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.memory import Memory
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.units import count_text
from tfdbg_cli.process.own_threads import OwnThread

_INTERVAL = 1.0  # seconds between two looks


class Following:
    """Looks for new runs of a recording that is followed; of any other stop there are none.

    As a context it looks in a thread, every `interval` seconds. No lock is shared with the writer: what cannot be
    read yet is read the next time.
    """

    def __init__(self, context: Context, interval: float = _INTERVAL) -> None:
        self._context = context
        self._growing = context.stop.growing if isinstance(context.stop, Opened) else None
        self.interval = interval
        self._told = len(context.runs)
        self._trouble = ""
        self._trouble_told = ""
        self._ended = threading.Event()  # of the thread that looks now

    def __enter__(self) -> None:
        if self._growing is not None:
            self._ended = threading.Event()
            OwnThread(target=self._look_on, args=(self._ended,), name="tfdbg-following", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _look_on(self, ended: threading.Event) -> None:
        while not ended.wait(self.interval):
            self.look()

    def look(self) -> None:
        """Look for new runs once."""
        if self._growing is None:
            return
        try:
            self._growing.look()
            self._trouble = ""
        except TfdbgError as error:
            self._trouble = f"New runs cannot be read now: {error.message}"

    @property
    def count(self) -> int:
        """How many runs there are by now."""
        return len(self._context.runs)

    def news(self) -> str:
        """A sentence about new runs since the last call, or why they cannot be read; empty if nothing is new."""
        fresh, self._told = self.count - self._told, self.count
        if fresh:
            memory = self._context.memory
            # Drop what was computed over all runs; caches about single runs stay valid.
            memory.trends, memory.histories, memory.alerts = Memory().trends, Memory().histories, Memory().alerts
            return f"{count_text(fresh, 'new run')}: there are {self.count:,} now."
        trouble = self._trouble if self._trouble != self._trouble_told else ""
        self._trouble_told = self._trouble
        return trouble
