"""Counting what the rows in sight still lack, a little at a time, so that the keys are answered meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfdbg_cli.document.table import Table
from tfdbg_cli.tui.reading.viewport import Viewport


class LateCells:
    """The cells of one document that are counted after they were shown, here or by who else shows the same."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._counting: tuple[Table, int, Iterator[None]] | None = None
        self._waiting: set[int] = set()  # lines that were seen to lack something

    @property
    def running(self) -> bool:
        """Whether a row in sight lacks something. Rows that somebody completed are made anew."""
        return bool(self._lacking())

    def work(self, enough: Callable[[], bool]) -> None:
        """Count until `enough`, or until every row in sight is complete."""
        while lacking := self._lacking():
            line, table, row = lacking[0]
            if self._counting is None or self._counting[:2] != (table, row):
                assert table.later is not None
                self._counting = table, row, table.later.count(row)
            for _ in self._counting[2]:
                if enough():
                    return
            self._counting = None
            self._view.forget(line)
            if enough():
                return

    def _lacking(self) -> list[tuple[int, Table, int]]:
        """Line, table and row of what is in sight and not complete."""
        found: list[tuple[int, Table, int]] = []
        for line, table, row in self._view.rows_in_sight():
            if table.later is None:
                continue
            if table.later.missing(row):
                self._waiting.add(line)
                found.append((line, table, row))
            elif line in self._waiting:
                self._waiting.discard(line)
                self._view.forget(line)
        return found
