"""Numbers of the runs of a recording: each only once, though wrapped sessions count their runs separately."""

from __future__ import annotations


class UniqueNumbers:
    """Gives runs their own numbers, and those whose number is taken the next one that is larger than all."""

    def __init__(self) -> None:
        self._given: set[int] = set()
        self._highest = 0

    def give(self, number: int) -> int:
        """The number for a run that its session counts as `number`."""
        if number in self._given:
            number = self._highest + 1
        self._given.add(number)
        self._highest = max(self._highest, number)
        return number
