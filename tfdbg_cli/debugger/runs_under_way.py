"""The watched runs that threads are making, for a stop in another thread: they may have written what it read."""

from __future__ import annotations

import threading

from tfdbg_cli.model.runs import RunUnderWay


class RunsUnderWay:
    """Hears which runs begin and which are over. Any thread may call it."""

    def __init__(self) -> None:
        self._begun: dict[int, threading.Thread] = {}  # by the number of the run

    def begins(self, number: int) -> None:
        """Note that the calling thread makes run `number`."""
        self._begun[number] = threading.current_thread()

    def over(self, number: int) -> None:
        """Note that it is known what run `number` did."""
        self._begun.pop(number, None)

    def elsewhere(self) -> tuple[RunUnderWay, ...]:
        """The runs of other threads that are not over, in the order of their numbers."""
        here, begun = threading.current_thread(), sorted(self._begun.copy().items())
        return tuple(RunUnderWay(number, of.name) for number, of in begun if of is not here and of.is_alive())
