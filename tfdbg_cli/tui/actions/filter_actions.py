"""The `ui:` actions of the line in which a list is filtered as one types."""

from __future__ import annotations

from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.live_filter import LiveFilter
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.screen import Screen


class FilterActions:
    """Opening, typing in, keeping and leaving the filter of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def begin(self) -> None:
        """Open the line for the list on show."""
        self._screen.drop()
        self._state.filter = LiveFilter(self._state.service.narrow())
        self._state.place = KeyContext.FILTER

    def changed(self) -> None:
        """Something was typed: look for the rows anew."""
        if self._state.filter is not None:
            self._state.filter.typed(self._screen.at_once)
            self._screen.go_on()

    def keep(self) -> None:
        """Close the line and keep the filtered list; if the query is invalid, leave the line open to be corrected.

        If rows are still being looked for, the list is kept when they are found; keys are answered meanwhile.
        """
        typed = self._state.filter
        if typed is None:
            return
        if not typed.running:
            if self._keep(typed):
                self._close()
            return
        self._close()
        steps = typed.steps()
        self._screen.begin(
            PendingAnswer(f"filter {typed.editor.text}", steps, lambda: self._kept(typed), typed.cancel)
        )

    def leave(self) -> None:
        """Close the line and keep the rows shown by now; if the query is invalid, restore the list."""
        if self._state.filter is not None:
            self._state.filter.halt()
            if not self._keep(self._state.filter):
                self._state.filter.cancel()
            self._state.filter = None

    def _kept(self, typed: LiveFilter) -> None:
        """Keep what was found; if the query is invalid, restore the list and say why."""
        if not self._keep(typed):
            wrong = typed.wrong
            typed.cancel()
            self._screen.say(Message(wrong, error=True))

    def _keep(self, typed: LiveFilter) -> bool:
        """Keep the rows on show, so that `U` can undo the filter; False if the query is invalid."""
        if not typed.keep():
            return False
        pages = self._state.pages
        if pages.at and pages.current is not typed.original:
            self._state.changes.add(typed.original, pages.current)
        return True

    def _close(self) -> None:
        self._state.filter = None
        self._state.place = KeyContext.DOCUMENT

    def cancel(self) -> None:
        """Leave the line with the list as it was."""
        if self._state.filter is not None:
            self._state.filter.cancel()
            self._close()
