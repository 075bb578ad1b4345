"""The `ui:` actions of the line in which a list is filtered as one types."""

from __future__ import annotations

from tfdbg_cli.tui.control.keymap import KeyContext
from tfdbg_cli.tui.control.live_filter import LiveFilter
from tfdbg_cli.tui.control.screen import Screen


class FilterActions:
    """Opening, typing in, keeping and leaving the filter of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def begin(self) -> None:
        """Open the line for the list on show."""
        self._state.filter = LiveFilter(self._state.service.narrow())
        self._state.place = KeyContext.FILTER

    def changed(self) -> None:
        """Something was typed: look for the rows anew."""
        if self._state.filter is not None:
            self._state.filter.typed(self._screen.at_once)
            self._screen.go_on()

    def keep(self) -> None:
        """Leave the line with the rows that it left; what cannot be asked stays to be mended."""
        with self._screen.busy():
            kept = self._state.filter is None or self._state.filter.keep()
        if kept:
            self._state.filter = None
            self._state.place = KeyContext.DOCUMENT

    def cancel(self) -> None:
        """Leave the line with the list as it was."""
        if self._state.filter is not None:
            self._state.filter.cancel()
            self._state.filter = None
            self._state.place = KeyContext.DOCUMENT
