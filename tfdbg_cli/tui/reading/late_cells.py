"""Counting what the rows in sight still lack, a little at a time, so that the keys are answered meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.table import Table
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps
from tfdbg_cli.tui.reading.viewport import Viewport


class LateCells:
    """The cells of one document that are counted after they were shown, here or by who else shows the same."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._counting: tuple[Table | Rows, int, Iterator[float | None]] | None = None
        self.waits = False  # for what lies far away: meanwhile something else can be done
        self._failed: Sequence[int] = ()  # the lines that were in sight when a value could not be had
        self._waiting: set[int] = set()  # lines that were seen to lack something

    @property
    def running(self) -> bool:
        """Whether a row in sight lacks something. Rows that somebody completed are made anew."""
        return bool(self._wanted())

    def work(self, enough: Callable[[], bool]) -> None:
        """Count until `enough`, or until every row in sight is complete.

        Raises:
            TfdbgError: a value cannot be had. It is tried again when other rows come into sight.

        """
        while lacking := self._wanted():
            for line, block, row in lacking:
                if not self._completed(block, row, enough):
                    return
                self._view.forget(line)
                if enough():
                    return

    def foresee(self, line: int) -> None:
        """The row at `line` is made before it is in sight; what it lacks may be there by then."""
        for _, block, row in self._view.block_rows(line, line + 1):
            if block.later is not None and block.later.missing(row):
                self._waiting.add(line)

    def _wanted(self) -> list[tuple[int, Table | Rows, int]]:
        """What is in sight and not complete, unless it could not be had."""
        return [] if self._failed and self._failed == self._in_sight() else self.lacking()

    def _in_sight(self) -> Sequence[int]:
        return [line for line, _, _ in self._view.rows_in_sight()]

    def _completed(self, block: Table | Rows, row: int, enough: Callable[[], bool]) -> bool:
        """Go on with the row until it is complete; False where it was `enough` before."""
        if self._counting is None or self._counting[:2] != (block, row):
            assert block.later is not None
            counts = partial(block.later.count, row)
            self._counting = block, row, in_steps(counts) if block.later.missing(row) else iter(())
        try:
            for share in self._counting[2]:
                self.waits = share is not None
                if enough():
                    return False
        except TfdbgError:
            self.waits = False
            self._counting, self._failed = None, self._in_sight()
            raise
        self._counting, self.waits = None, False
        return True

    def lacking(self) -> list[tuple[int, Table | Rows, int]]:
        """Line, block and row of what is in sight and not complete."""
        found: list[tuple[int, Table | Rows, int]] = []
        for line, block, row in self._view.rows_in_sight():
            if block.later is None:
                continue
            if block.later.missing(row):
                self._waiting.add(line)
                found.append((line, block, row))
            elif line in self._waiting:
                self._waiting.discard(line)
                self._view.forget(line)
        return found
