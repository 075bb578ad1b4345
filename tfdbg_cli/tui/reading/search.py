"""Searching a document of any length in small steps, so that the screen answers meanwhile."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import Protocol

from tfdbg_cli.commands.asked.patterns import search_pattern
from tfdbg_cli.document.text import Line
from tfdbg_cli.tui.reading.paint import Range, links_of


class ByValue(Protocol):
    """What finds elements of arrays by their values."""

    def ranges(self, line: Line, index: int) -> list[Range]:
        """Where on `line`, which stands at `index`, those stand that are found, in characters of its text."""
        ...

    def step(self, start: int, stop: int) -> tuple[int, Sequence[int]]:
        """Look at lines from `start` on, to `stop` at most: the line to go on with, and those that hold some."""
        ...


class Search:
    """The lines that match a pattern, looked for from the line `start` on, round to it again.

    `values` says by which values arrays are searched, where that is asked for; other lines have no match then.
    """

    def __init__(self, text: str, lines: Sequence[Line], start: int, values: ByValue | None = None) -> None:
        self.text = text
        self.pattern = search_pattern(text)
        self._values = values
        self._lines = lines
        self._start = min(max(0, start), max(0, len(lines) - 1))
        self._scanned = 0
        self._after: list[int] = []  # matching lines from `start` on
        self._before: list[int] = []  # those above it, which are looked at last
        self._found: list[int] = []  # both, in order, once every line was looked at

    @property
    def done(self) -> bool:
        """Whether every line was looked at."""
        return self._scanned >= len(self._lines)

    @property
    def share(self) -> float:
        """The part of the lines that was looked at."""
        return self._scanned / len(self._lines) if len(self._lines) else 1.0

    @property
    def count(self) -> int:
        """Matching lines found so far."""
        return len(self._after) + len(self._before)

    def scan(self, lines: int, enough: Callable[[], bool] = lambda: False) -> None:
        """Look at the next `lines` lines, or at fewer: after each step, mostly a line, `enough` may end it."""
        total = len(self._lines)
        last = min(total, self._scanned + lines)
        while self._scanned < last:
            index = (self._start + self._scanned) % total
            end, found = self._step(index, min(total, index + last - self._scanned))
            (self._after if index >= self._start else self._before).extend(found)
            self._scanned += end - index
            if enough():
                break
        if self.done:
            self._found = self._before + self._after

    def _step(self, start: int, stop: int) -> tuple[int, Sequence[int]]:
        """Look at the line at `start`, or at as many up to `stop` as take no longer; see `ByValue.step`."""
        if self._values is not None:
            return self._values.step(start, stop)
        return start + 1, [start] if self._matches(start) else ()

    def _matches(self, index: int) -> bool:
        """Whether the pattern is in what the line at `index` shows, or in a name that the table cut short."""
        line = self._lines[index]
        text = line.text
        if self.pattern.search(text):
            return True
        return "…" in text and any(self.pattern.search(link.name) for link in links_of(line) if "…" in link.text)

    def ranges(self, line: Line, index: int) -> list[Range]:
        """Where the pattern matches in `line`, which stands at `index`, in characters of its shown text."""
        if self._values is not None:
            return self._values.ranges(line, index)
        return [m.span() for m in self.pattern.finditer(line.text) if m.end() > m.start()]

    def ordinal(self, line: int) -> int | None:
        """The number of the matching line `line` among all, from 1; None before all are known, or if it is none."""
        if not self.done:
            return None
        at = bisect.bisect_left(self._found, line)
        return at + 1 if at < len(self._found) and self._found[at] == line else None

    def after(self, line: int, *, here: bool = False) -> tuple[int, bool] | None:
        """The next matching line below `line` (or at it, if `here`) and whether the end was passed on the way.

        None when there is none, or none is known yet.
        """
        low = line if here else line + 1
        found = self._found if self.done else self._after
        at = bisect.bisect_left(found, low)
        if at < len(found) and (self.done or low >= self._start):
            return found[at], False
        return (found[0], True) if self.done and found else None

    def before(self, line: int) -> tuple[int, bool] | None:
        """The matching line next above `line` and whether the top was passed. None as for `after`."""
        if not self.done:
            return None
        at = bisect.bisect_left(self._found, line) - 1
        if at >= 0:
            return self._found[at], False
        return (self._found[-1], True) if self._found else None
