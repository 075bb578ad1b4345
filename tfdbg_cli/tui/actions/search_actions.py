"""The `ui:` actions of a search: typing it, going from match to match."""

from __future__ import annotations

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen


class SearchActions:
    """Searching in what is read on one screen: a document, or the array in its viewer."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def begin(self) -> None:
        """Open the line in which a search is typed."""
        self._state.seeker.begin()
        self._state.sought.put("")
        self._state.place = KeyContext.SEARCH

    def typed(self) -> None:
        """The pattern changed: search anew. What is no pattern yet is said until the next letter, and not kept."""
        self._screen.say(None)
        try:
            self._search()
        except TfdbgError as error:
            self._screen.say(Message(error.message, error=True, hint=error.hint, passing=True))

    def _search(self) -> None:
        """Search from where the search began."""
        if self._state.viewer is None and self._state.sought.text and self.unfold():
            self._state.seeker.begin()
        self._state.seeker.look_for(self._state.sought.text)
        self._screen.go_on()

    def done(self) -> None:
        """Leave the line and stay at the match; without a pattern, go to the next match of the last search."""
        wanted = self._state.sought.text
        if wanted and wanted != self._state.seeker.text:
            self._search()  # what is typed is no pattern yet: this says so, and typing goes on
        self._state.place = KeyContext.DOCUMENT
        if not wanted:
            self.look_for("")

    def cancel(self) -> None:
        """Leave the line and go back to where the search began."""
        self._state.seeker.cancel()
        self._state.place = KeyContext.DOCUMENT

    def look_for(self, text: str) -> None:
        """Search for `text`; without one, go to the next match of the last search."""
        if not text:
            self.match(forward=True)
            return
        self._state.seeker.begin()
        self._state.sought.put(text)
        self._search()

    def match(self, *, forward: bool) -> None:
        """Go to the next match, or to the one before; where nothing is searched for, search for the last pattern."""
        seeker = self._state.seeker
        if not seeker.active:
            if not self._state.sought.text:
                self._screen.say(Message("Nothing was searched for yet.", hint="/ searches."))
                return
            self.look_for(self._state.sought.text)
            return
        if forward:
            seeker.next()
        else:
            seeker.previous()
        self._screen.go_on()

    def unfold(self) -> bool:
        """Show every element of the arrays here; False where none was left out."""
        with self._screen.busy():
            unfolded = self._state.read.unfold()
        if unfolded:
            self._screen.say(Message("Every element is shown now."))
        return unfolded
