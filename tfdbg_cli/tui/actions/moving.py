"""The `ui:` actions that move in a document: by lines, pages, links, as often as a count says."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.reading.viewport import LINK_REACH
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

_SIDEWAYS = 8
_MOST_TIMES = 99  # that a search goes on at one key


class Moving:
    """Moving in what is read on one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def move(self, lines: int) -> None:
        """So many lines down; with a count so many times as far."""
        front = self._state.front
        if self._state.place in {KeyContext.KEYS, KeyContext.LEAVE, KeyContext.GO_ON, KeyContext.FIND}:
            front.next_link(lines)
        elif not front.move(lines * self._times):
            self._screen.say(Message("Last line." if lines > 0 else "First line.", passing=True))

    @property
    def _times(self) -> int:
        """How often the key is meant."""
        return max(1, self._state.count)

    def page(self, pages: float) -> None:
        """So many pages down, as often as the count says."""
        for _ in range(min(self._times, len(self._state.front.lines))):
            self._state.front.page(pages)

    def top(self) -> None:
        """The first row; with a count the line of that number."""
        if self._state.count:
            self._state.front.go(self._state.count - 1, centre=True)
        else:
            self._state.front.begin()

    def bottom(self) -> None:
        """The last line; with a count the line of that number."""
        if self._state.count:
            self.top()
            return
        self._state.front.left = 0
        self._state.front.go(len(self._state.front.lines))

    def in_sight(self, share: float) -> None:
        """The first line in sight (0), the last one (1), or one between."""
        front = self._state.front
        shown = [line for line in front.visible() if line not in front.pinned]
        if shown:
            front.go(shown[round(share * (len(shown) - 1))])

    def often(self, work: Callable[[], None]) -> None:
        """Do it as often as the count says, within reason."""
        for _ in range(min(self._times, _MOST_TIMES)):
            work()

    def beside(self, step: int) -> None:
        """The next link on the line, or the one before; where there is none, sideways."""
        if not self._state.front.beside(step):
            self.sideways(step)

    def sideways(self, step: int) -> None:
        """So many steps to the right; says so where nothing is hidden there."""
        if not self._state.front.sideways(step * _SIDEWAYS):
            self._screen.say(Message(f"Nothing more to the {'right' if step > 0 else 'left'}.", passing=True))

    def next_link(self, step: int) -> None:
        """The next link in the document, or the one before."""
        if not self._state.front.next_link(step):
            end = self._state.front.selected + LINK_REACH * step
            near = 0 <= end < len(self._state.front.lines)
            where = f"the {LINK_REACH:,} lines" if near else "the lines"
            self._screen.say(Message(f"No more links in {where} {'below' if step > 0 else 'above'}.", passing=True))
