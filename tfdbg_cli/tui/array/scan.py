"""Work on an array that is done in small steps, between two keys."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Generic, TypeVar

T = TypeVar("T")
Steps = Generator[float, None, T]  # gives the share that is done after each step, and at last the answer


class Scan(Generic[T]):
    """`steps` gone through as far as time allows; `then` is told the answer once it is known.

    `share` is the part that is done.
    """

    def __init__(self, steps: Steps[T], then: Callable[[T], None]) -> None:
        self.share = 0.0
        self.running = True
        self._steps = steps
        self._then = then

    def work(self, most: int, enough: Callable[[], bool] = lambda: False) -> None:
        """Do at most `most` steps; after each of them `enough` may end it."""
        for _ in range(most):
            if not self.running:
                return
            try:
                self.share = next(self._steps)
            except StopIteration as over:
                self.running = False
                self.share = 1.0
                self._then(over.value)
                return
            if enough():
                return

    def stop(self) -> None:
        """Do no more; nobody is told anything."""
        self.running = False
        self._steps.close()
