"""A line of text being typed: a cursor, words, and what was erased last, as readline has them."""

from __future__ import annotations

import re
from collections.abc import Callable

import urwid

_WORD = re.compile(r"\w+")


class LineEditor:
    """Text with a cursor. `text` never holds a line end."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._erased = ""
        self._actions: dict[str, Callable[[], None]] = {
            "left": lambda: self._go(self._character_left()),
            "right": lambda: self._go(self._character_right()),
            "start": lambda: self._go(0),
            "end": lambda: self._go(len(self.text)),
            "word-left": lambda: self._go(self._word_left()),
            "word-right": lambda: self._go(self._word_right()),
            "erase": lambda: self._erase(self._character_left(), self.cursor, keep=False),
            "erase-ahead": lambda: self._erase(self.cursor, self._character_right(), keep=False),
            "erase-word": lambda: self._erase(self._blank_left(), self.cursor),
            "erase-part": lambda: self._erase(self._word_left(), self.cursor),
            "erase-word-ahead": lambda: self._erase(self.cursor, self._word_right()),
            "erase-start": lambda: self._erase(0, self.cursor),
            "erase-end": lambda: self._erase(self.cursor, len(self.text)),
            "yank": lambda: self.insert(self._erased),
        }

    def put(self, text: str) -> None:
        """Make `text` the line, the cursor behind it."""
        self.text = text
        self.cursor = len(text)

    def insert(self, text: str) -> None:
        """Put `text` in at the cursor; line ends become blanks."""
        text = " ".join(text.splitlines())
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def replace(self, start: int, text: str) -> None:
        """Put `text` in the place of what stands from `start` up to the cursor."""
        self.text = self.text[:start] + text + self.text[self.cursor :]
        self.cursor = start + len(text)

    def edit(self, name: str) -> None:
        """Do what the `edit:` action called `name` says."""
        self._actions[name]()

    def actions(self) -> frozenset[str]:
        """The names that `edit` knows."""
        return frozenset(self._actions)

    def _go(self, position: int) -> None:
        self.cursor = position

    def _erase(self, start: int, end: int, *, keep: bool = True) -> None:
        if keep and start < end:
            self._erased = self.text[start:end]
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    # A character is what a user sees as one: with its combining marks.
    def _character_left(self) -> int:
        return urwid.move_prev_char(self.text, 0, self.cursor) if self.cursor else 0

    def _character_right(self) -> int:
        end = len(self.text)
        return urwid.move_next_char(self.text, self.cursor, end) if self.cursor < end else end

    def _word_left(self) -> int:
        starts = [m.start() for m in _WORD.finditer(self.text) if m.start() < self.cursor]
        return starts[-1] if starts else 0

    def _word_right(self) -> int:
        match = _WORD.search(self.text, self.cursor)
        return match.end() if match else len(self.text)

    def _blank_left(self) -> int:
        before = self.text[: self.cursor].rstrip()
        return before.rfind(" ") + 1
