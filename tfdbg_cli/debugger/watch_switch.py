"""Puts a watch on and takes it off, and Ctrl-C with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.interruption import Interruption
from tfdbg_cli.debugger.progress_line import Progress
from tfdbg_cli.debugger.prompt import Prompt
from tfdbg_cli.debugger.prompt_threads import at_prompt
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Hit, Run


class WatchSwitch:
    """The watch that is `on`, if one is, and the `last` one that was.

    `asks` is called with what the watch asks of runs, whenever that changes; None where none is on.
    """

    def __init__(
        self,
        prompt: Prompt,
        interruption: Interruption,
        line: Progress,
        asks: Callable[[WatchRequest | None], None],
    ) -> None:
        self.on: ActiveWatch | None = None
        self.last: RunUntil | None = None
        self._prompt = prompt
        self._interruption = interruption
        self._asks = asks
        self._asking = threading.Lock()
        self._line = line
        self._waits = False  # whether to take over Ctrl-C at the next run only

    def begin(
        self,
        decision: RunUntil,
        tensor_filter: TensorFilter,
        earlier: Sequence[Run] = (),
        *,
        from_the_start: bool = False,
    ) -> None:
        """Put the watch `decision` on, and take over Ctrl-C; `from_the_start` leaves that until the first run."""
        prompt = self._prompt
        facts = decision, tensor_filter, prompt.settings, self._line, prompt.notify, prompt.ignored, earlier
        self.on = ActiveWatch(*facts)
        self.last = decision
        self._ask_anew()
        self._waits = from_the_start
        if not from_the_start:
            self._interruption.begin()

    def end(self) -> None:
        """Watch no more, and leave Ctrl-C to the program."""
        self.on = None
        self._ask_anew()
        self._waits = False
        self._interruption.end()

    def run_begins(self, number: int) -> WatchRequest | None:
        """What to check in run `number`, which is about to be made; None where no watch is on."""
        asked = None if self.on is None else self.on.begins(number)
        if self._waits:
            self._waits = False
            self._interruption.begin()
        return asked

    def hit(self, watch: ActiveWatch, run: Run) -> Hit | None:
        """What `watch` finds in `run`, to stop for."""
        with at_prompt():  # a filter may run a session of its own
            hit = watch.sees(run)
        self._ask_anew()  # it may ignore more places from now on
        return hit

    def _ask_anew(self) -> None:
        with self._asking:  # without the lock, another thread could tell the request of a watch that has ended
            self._asks(None if self.on is None else self.on.watched)
