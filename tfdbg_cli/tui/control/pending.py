"""An answer that takes its time: made between two keys, shown when it is there, unless something else is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator


class Pending:
    """What is being done for the answer to `words`.

    `steps` do what takes its time, each giving the share that is done where that is known; `finish` shows the answer,
    `give_up` puts back what was shown meanwhile.
    """

    def __init__(
        self,
        words: str,
        steps: Iterator[float | None],
        finish: Callable[[], None],
        give_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.words = words
        self.finish = finish
        self.give_up = give_up
        self.ready = False
        self._steps = steps
        self._share: float | None = None
        self._begun = time.monotonic()

    @property
    def status(self) -> str:
        """How far it is, and the way out."""
        seconds = time.monotonic() - self._begun
        so_far = f"{self._share:.0%}" if self._share is not None else f"{seconds:.0f} s"
        return f"{self.words}: working, {so_far}. Esc stops it."

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on until `enough`, or until it is `ready` to be shown."""
        for share in self._steps:
            self._share = share
            if enough():
                return
        self.ready = True
