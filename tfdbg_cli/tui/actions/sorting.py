"""The `ui:` actions that bring a table into another order, and that take back the last filter or sort of a page."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.reading.table_row import chosen_row, go_to_row
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.screen import Screen


class Sorting:
    """Sorting the tables of one screen, and taking back."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def sort(self) -> None:
        """By the next column."""
        heads = self._heads()
        self._sort_by((self._state.page.sorted_by + 1) % len(heads))

    def reverse(self) -> None:
        """By the same column the other way round."""
        self._sort_by(max(0, self._state.page.sorted_by))

    def worst(self) -> None:
        """The worst tensors on top; again: as before."""
        before = self._state.pages.current
        command = self._state.service.list_commands.worst_first()
        self._screen.command(command, replace=True, then=lambda: self._changed(before))

    def in_place(self, command: str, then: Callable[[], None] = lambda: None) -> None:
        """The table in another order; the row that was chosen stays so, and stays where it is."""
        before = self._state.pages.current
        row = chosen_row(self._state.page.view)

        def shown() -> None:
            self._changed(before)
            then()
            if row is not None:
                steps = go_to_row(self._state.page.view, row)
                self._screen.begin(PendingAnswer("looking for the row", steps, lambda: None))

        self._screen.command(command, replace=True, then=shown)

    def undo(self) -> None:
        """The list as it was before its last filter or sort; with a count as many of them."""
        times = max(1, self._state.count)
        for done in range(times):
            page = self._state.changes.take(self._state.pages.current)
            if page is None and not done:
                raise TfdbgError("No filter or sort of this page is left to undo.", hint="Ctrl-O goes a page back.")
            if page is None:
                break
            self._screen.drop()
            self._state.service.put_back(page)
        self._screen.say(Message(f"As before: {self._state.pages.current.command}"))

    def _changed(self, before: Page) -> None:
        self._state.changes.add(before, self._state.pages.current)

    def _sort_by(self, at: int) -> None:
        """Sort by the column with the head link numbered `at`."""

        def sorted_so() -> None:
            self._state.page.sorted_by = at

        self.in_place(self._heads()[at], sorted_so)

    def _heads(self) -> list[str]:
        heads = self._state.page.view.heads()
        if not heads:
            raise TfdbgError("There is no table here that sorts.", hint="`lt` lists the tensors.")
        return heads
