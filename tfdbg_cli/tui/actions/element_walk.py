"""Single elements of the arrays on a page: going to one by its index, and the viewer that walks among them."""

from __future__ import annotations

import re

from tfdbg_cli.commands.asked.element_request import require_element
from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.actions.search_actions import SearchActions
from tfdbg_cli.tui.state.screen import Screen

_VALUES = frozenset({"pt", "print_tensor", "pf", "print_feed"})  # commands that answer with a value
# The key @ types the first bracket; a user may type it again.
_ELEMENT = re.compile(r"@?\s*\[?\s*\[?\s*(?P<index>\d+(\s*,\s*\d+)*)\s*,?\s*\]?\s*")


class ElementKeys:
    """What keys do to the arrays of one screen."""

    def __init__(self, screen: Screen, searching: SearchActions) -> None:
        self._screen = screen
        self._state = screen.state
        self._searching = searching

    @property
    def chosen(self) -> bool:
        """Whether the line with the cursor is one of an array."""
        view = self._state.page.view
        array = any(isinstance(block, ArrayBlock) for block in self._state.page.document.blocks)
        return array and self._state.read is self._state.page and view.line(view.selected).element is not None

    def view(self) -> None:
        """The array of the page in its viewer, or that of the chosen tensor on a page of its own."""
        link = self._state.read.view.chosen
        words = link.link.split(" ", 1)[0] if link is not None else ""
        if link is not None and words in _VALUES:
            self._screen.command(link.link, then=lambda: self.open_viewer(from_text=False))
        else:
            self.open_viewer()

    def open_viewer(self, *, from_text: bool = True) -> None:
        """The array of the page in its viewer; Esc leads back to the text if it came `from_text`."""
        self._state.viewers.open(self._state.page, self._state.service.settings, from_text=from_text)

    def go(self, text: str) -> None:
        """To the element that `text` names, as `@[10, 0]`.

        Raises:
            TfdbgError: it names none, or no array on the page has it.

        """
        match = _ELEMENT.fullmatch(text)
        if match is None:
            raise TfdbgError(f"Cannot read {text!r} as an element.", hint="Write @[10, 0], as in the array's shape.")
        index = tuple(int(part) for part in match["index"].split(","))
        if (viewer := self._state.viewer) is not None:
            viewer.require(index)
            viewer.go(index)
            return
        require_element(self._state.read.document, index)
        view = self._state.read.view
        line = view.find_element(index)
        if line is None:
            raise TfdbgError(f"No array here has an element {list(index)}.", hint="`pt NAME` shows an array.")
        if not self._state.read.shows(index) and self._searching.unfold():
            view = self._state.read.view
            line = view.find_element(index) or 0
        view.go(line, centre=True)
