"""Which lines of a document hold elements that are looked for by their values: told without making those lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.document.array import ArrayLines
from tfdbg_cli.document.text import Line
from tfdbg_cli.tui.array.chunks import STEP
from tfdbg_cli.tui.array.sought_values import SoughtValues, sought_values
from tfdbg_cli.tui.reading.paint import Range
from tfdbg_cli.tui.reading.viewport import Viewport


class ValueLines:
    """The lines of `view` on which `sought` holds, which has what is asked of each block by its place."""

    def __init__(self, view: Viewport, sought: dict[int, SoughtValues]) -> None:
        self._view = view
        self._sought = sought

    def ranges(self, line: Line, index: int) -> list[Range]:
        """Where elements that are found stand on `line`, which stands at `index`, in characters of its text."""
        number = self._view.block_of(index)
        sought = None if number is None else self._sought.get(number)
        return [] if sought is None else sought.ranges(line)

    def step(self, start: int, stop: int) -> tuple[int, Sequence[int]]:
        """Look at lines from `start` on, to `stop` at most: the line to go on with, and those that hold some.

        It takes about as long for as many elements as are read at once as for a single line that has to be made.
        """
        number = self._view.block_of(start)
        if number is None:
            return start + 1, ()
        part, sought = self._view.parts[number], self._sought.get(number)
        stop = min(stop, part.start + part.length)
        if sought is None:
            return stop, ()
        if isinstance(part.lines, ArrayLines) and part.lines.shows_all:
            end, found = _found(part.lines, sought, start - part.start, stop - part.start)
            return part.start + end, [part.start + line for line in found]
        return start + 1, [start] if sought.ranges(self._view.lines[start]) else ()


def value_lines(text: str, view: Viewport) -> ValueLines | None:
    """What `text` asks of the arrays in `view`; None where it is to be searched for as text."""
    sought = sought_values(text, view.document.blocks)
    return ValueLines(view, sought) if sought else None


def _found(lines: ArrayLines, sought: SoughtValues, start: int, stop: int) -> tuple[int, Sequence[int]]:
    """The line before which a step from line `start` on ends, at `stop` at the latest, and which lines it found."""
    low, high = lines.first_element(start), lines.first_element(stop)
    if high - low > STEP:
        within = int(lines.lines_of(np.asarray(low + STEP)))
        stop = max(within, start + 1)
        high = lines.first_element(stop)
    return stop, np.unique(lines.lines_of(sought.places(low, high))).tolist()
