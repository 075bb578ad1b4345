"""A recording that is still being written: new runs, looked for in a thread, so that nobody waits for a disk."""

from __future__ import annotations

import threading

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.memory import Memory
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened

_INTERVAL = 1.0  # seconds between two looks


class Following:
    """The runs that are written while a person looks at a recording that is followed; of any other there are none.

    Within it as a context a thread looks for them. Nobody waits for the writer, nor the writer for anybody: what can
    be read is read, the rest a second later.
    """

    def __init__(self, context: Context, interval: float = _INTERVAL) -> None:
        self._context = context
        self._growing = context.stop.growing if isinstance(context.stop, Opened) else None
        self.interval = interval
        self._told = len(context.runs)
        self._trouble = ""
        self._trouble_told = ""
        self._ended = threading.Event()

    def __enter__(self) -> None:
        if self._growing is not None:
            self._ended.clear()
            threading.Thread(target=self._look_on, name="tfdbg-following", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _look_on(self) -> None:
        while not self._ended.wait(self.interval):
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
        """What is new since this was asked last, in a sentence: runs, or what keeps them from being read."""
        fresh, self._told = self.count - self._told, self.count
        if fresh:
            memory = self._context.memory
            # What was found out about all runs; what is known of one stays true.
            memory.trends, memory.histories, memory.alerts = Memory().trends, Memory().histories, Memory().alerts
            return f"{count_text(fresh, 'new run')}: there are {self.count:,} now."
        trouble = self._trouble if self._trouble != self._trouble_told else ""
        self._trouble_told = self._trouble
        return trouble
