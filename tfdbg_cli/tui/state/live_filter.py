"""The filter of a list as it is typed: the rows that it leaves are shown meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tfdbg_cli.commands.query.language import QueryError
from tfdbg_cli.commands.service.narrowing import Narrowing
from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.tui.state.line_editor import LineEditor


class LiveFilter:
    """What is typed behind `filter> `, and the list that it narrows."""

    def __init__(self, narrowing: Narrowing) -> None:
        self._narrowing = narrowing
        self.editor = LineEditor()
        self.editor.put(narrowing.text)

    @property
    def original(self) -> Page:
        """The page of the list as it was."""
        return self._narrowing.original

    @property
    def running(self) -> bool:
        """Whether the rows are still being looked for."""
        return self._narrowing.running

    @property
    def offer(self) -> str:
        """What can be typed, as long as nothing is."""
        return "" if self.editor.text.strip() else "Names, or facts: dtype=int32 shape=[*,3] size>1MB nan>0 max>1e4"

    @property
    def wrong(self) -> str:
        """What is wrong with what is typed, and the way out; empty where it can be asked."""
        error = self._narrowing.error
        if error is None:
            return ""
        if not isinstance(error, QueryError):
            return str(error)
        # The column in words: a small screen has no row for the mark, and a screen reader reads none.
        return f"Column {error.at + self._blanks + 1}: {error.reason}. {error.hint}".rstrip()

    @property
    def wrong_at(self) -> int | None:
        """The place in the text where that shows."""
        error = self._narrowing.error
        return error.at + self._blanks if isinstance(error, QueryError) else None

    @property
    def _blanks(self) -> int:
        """How many blanks stand before the query, which is asked without them."""
        return len(self.editor.text) - len(self.editor.text.lstrip())

    def typed(self, at_once: float) -> None:
        """The text changed: what was looked for before is not wanted any more.

        `at_once` are the seconds of looking before the screen is drawn with what was typed.
        """
        if self.editor.text == self._narrowing.text:
            return
        self._narrowing.ask(self.editor.text)
        end = time.monotonic() + at_once
        self.work(lambda: time.monotonic() >= end)

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on looking for the rows until `enough`."""
        self._narrowing.work(enough)

    def steps(self) -> Iterator[None]:
        """Go on looking for the rows, a step at a time."""
        while self.running:
            self.work(lambda: True)
            yield

    def halt(self) -> None:
        """Look for no more rows: those on show stay."""
        self._narrowing.halt()

    def keep(self) -> bool:
        """Keep the rows on show; False where what is typed cannot be asked."""
        if self._narrowing.error is not None:
            return False
        self._narrowing.keep()
        return True

    def cancel(self) -> None:
        """Show the list as it was."""
        self._narrowing.take_back()
