"""The `ui:` actions of a search, as it is typed and afterwards."""

from __future__ import annotations

from tfdbg_cli.tui.control.bars import Message
from tfdbg_cli.tui.control.keymap import KeyContext
from tfdbg_cli.tui.control.screen import Screen


class SearchActions:
    """Opening, typing and leaving the line of a search, and going from match to match."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def begin(self) -> None:
        """Open the line, to search from here."""
        self._state.finder.begin()
        self._state.sought.put("")
        self._state.place = KeyContext.SEARCH

    def changed(self) -> None:
        """The pattern changed: search anew from where the search began."""
        if self._state.viewer is None and self._state.sought.text and unfold(self._screen):
            self._state.finder.begin()
        self._state.finder.look_for(self._state.sought.text)
        self._screen.go_on()

    def done(self) -> None:
        """Leave the line at the match."""
        wanted = self._state.sought.text
        if wanted and wanted != self._state.finder.text:
            self.changed()  # what is typed is no pattern yet: this says so, and typing goes on
        self._state.place = KeyContext.DOCUMENT
        if not wanted:
            self.search_for("")

    def cancel(self) -> None:
        """Leave the line, and go back to where the search began."""
        self._state.finder.cancel()
        self._state.place = KeyContext.DOCUMENT

    def search_for(self, text: str) -> None:
        """Search for `text`; without one, go to the next match of the last search."""
        if not text:
            self.match(forward=True)
            return
        self._state.finder.begin()
        self._state.sought.put(text)
        self.changed()

    def match(self, *, forward: bool) -> None:
        """Go to the next match, or the one before."""
        finder = self._state.finder
        if not finder.active:
            if not self._state.sought.text:
                self._screen.say(Message("Nothing was searched for yet.", hint="/ searches."))
                return
            self.search_for(self._state.sought.text)
            return
        if forward:
            finder.next()
        else:
            finder.previous()
        self._screen.go_on()


def unfold(screen: Screen) -> bool:
    """Show every element of the arrays that are read; False where none was left out."""
    with screen.busy():
        unfolded = screen.state.read.unfold()
    if unfolded:
        screen.say(Message("Every element is shown now."))
    return unfolded
