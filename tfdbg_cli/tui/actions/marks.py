"""Marks: a letter stands for a page, with its row and column, as long as the stop lasts."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.array.plane import Index
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

BACK = "'"  # the mark that is set by itself, where one was before the last jump


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on `page`: the selected line and link, the scroll position, and in an array viewer the element.

    It holds the reading, too, which otherwise would be lost with a page that was dropped from the history.
    """

    page: Page
    reading: Reading
    line: int
    link: int | None
    top: int
    left: int
    element: Index | None


class Marks:
    """The marks of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state
        self._known: dict[str, Mark] = {}

    def ask(self, action: str) -> None:
        """Wait for the letter that belongs to `action`."""
        self._state.letter = action
        known = " ".join(sorted(self._known)) or "none yet"
        words = "A letter marks this place" if action == "mark" else f"A letter goes to its mark: {known}"
        self._screen.say(Message(f"{words}.", passing=True))

    def set(self, letter: str) -> None:
        """Let `letter` stand for where one is now.

        Raises:
            TfdbgError: it is no letter.

        """
        if not letter.isalpha():
            raise TfdbgError(f"{letter!r} marks nothing.", hint="A mark is a letter: ma, and 'a goes there.")
        self._known[letter] = self._here()
        self._screen.say(Message(f"{letter} marks this place; '{letter} comes back here."))

    def leave(self) -> None:
        """Remember where one is, before a jump."""
        if self._state.pages.all:
            self._known[BACK] = self._here()

    def go(self, letter: str) -> None:
        """To the mark `letter`; `'` leads to where one was before the last jump.

        Raises:
            TfdbgError: there is no such mark.

        """
        mark = self._known.get(letter)
        if mark is None:
            known = ", ".join(sorted(set(self._known) - {BACK}))
            raise TfdbgError(
                f"Nothing is marked {letter}.", hint=f"Marks: {known}." if known else "ma marks a place."
            )
        self.leave()
        self._screen.drop()
        self._state.service.go_to(mark.page)
        view, viewer = self._state.readings.of(mark.page).view, self._state.viewed
        if viewer is not None and mark.element is not None:
            viewer.go(mark.element)
        view.top, view.left = mark.top, mark.left
        view.choose(mark.line, mark.link)
        view.left = mark.left

    def _here(self) -> Mark:
        page, viewer = self._state.pages.current, self._state.viewed
        reading = self._state.readings.of(page)
        view = reading.view
        element = None if viewer is None else viewer.here
        return Mark(page, reading, view.selected, view.link, view.top, view.left, element)
