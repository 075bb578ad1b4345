"""Puts a watch on and takes it off, and Ctrl-C with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.interruption import Interruption
from tfdbg_cli.debugger.progress_line import Progress
from tfdbg_cli.debugger.prompt import Prompt
from tfdbg_cli.debugger.prompt_threads import at_prompt
from tfdbg_cli.debugger.runs_under_way import RunsUnderWay
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Hit, Run
from tfdbg_cli.process.streams import to_stderr


class Fellows(Protocol):
    """The other workers of a job, which are to stop where this one does."""

    def hear(self, called: WatchSwitch) -> None:
        """Have `called` told of their hits, in another thread."""
        ...

    def pass_on(self) -> None:
        """Tell those who hear what others have told meanwhile. Cheap where that is nothing."""
        ...

    def tell(self, run: int, filter_name: str) -> str:
        """Tell them that a run passed the filter; a sentence on who hears of it."""
        ...


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
        fellows: Fellows | None = None,
    ) -> None:
        self.on: ActiveWatch | None = None
        self.last: RunUntil | None = None
        self._prompt = prompt
        self._interruption = interruption
        self._asks = asks
        self._asking = threading.RLock()  # again by a signal handler that ends the watch
        self._line = line
        self._waits = False  # whether to take over Ctrl-C at the next run only
        self._fellows = fellows
        self._under_way = RunsUnderWay()
        if fellows is not None:
            fellows.hear(self)

    def called(self, worker: str, run: int, filter_name: str) -> None:
        """End the watch after the current run, as `worker` stops at what it found in its own; in any thread."""
        if self.on is not None:
            self._interruption.call(f"What {worker} found in its run #{run} (--on-hit all)")
            what = f"{worker}: its run #{run} passed {filter_name}"
            to_stderr(f"{what}. The prompt opens after this run. Ctrl-C interrupts the program.")

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
        if self._fellows is not None:
            self._fellows.pass_on()
        asked = None if self.on is None else self.on.begins(number)
        if asked is not None:
            self._under_way.begins(number)
        if self._waits:
            self._waits = False
            self._interruption.begin()
        return asked

    def over(self, number: int) -> None:
        """Note that it is known what run `number` did: nothing was found in it, or its turn has come to stop."""
        self._under_way.over(number)

    def asking(self, watched: WatchRequest | None) -> ActiveWatch | None:
        """The watch that is on, if it asks of runs what `watched` does."""
        now = self.on  # another thread may put it off
        return now if now is not None and now.asks_as(watched) else None

    def hit(self, watch: ActiveWatch, run: Run) -> Hit | None:
        """The hit to stop at, if `watch` finds something in `run`."""
        under_way = self._under_way.elsewhere()
        with at_prompt():  # a filter may run a session of its own
            hit = watch.sees(run)
        hit = None if hit is None else replace(hit, under_way=under_way)
        if hit is not None and self._fellows is not None:
            self._prompt.notify(self._fellows.tell(run.call.number, hit.filter_name))
        self._ask_anew()  # it may ignore more places from now on
        return hit

    def _ask_anew(self) -> None:
        with self._asking:  # without the lock, another thread could tell the request of a watch that has ended
            while True:
                asked = None if self.on is None else self.on.watched
                self._asks(asked)
                if asked is (None if self.on is None else self.on.watched):  # no signal handler came between
                    return
