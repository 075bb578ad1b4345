"""The sentences that the bottom line of a screen has shown at one stop, with their times."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

_MOST = 500


def now() -> float:
    """The time of day, in seconds."""
    return time.time()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One of them; `times` is how often it was said in a row, `at` when it was said last."""

    at: float
    text: str
    error: bool
    times: int = 1


class Said:
    """The last of what was said, the oldest first. What is said again in a row counts up."""

    def __init__(self) -> None:
        self._all: deque[Sentence] = deque(maxlen=_MOST)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self._all)

    def add(self, text: str, *, error: bool) -> None:
        """Keep what was said now."""
        times = 1
        if self._all and (self._all[-1].text, self._all[-1].error) == (text, error):
            times = self._all.pop().times + 1
        self._all.append(Sentence(now(), text, error, times))
