"""A part of the screen: a widget with its own size, document, keys and mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import urwid

from tfdbg_cli.document.text import EMPTY_LINE
from tfdbg_cli.tui.control.keymap import Binding
from tfdbg_cli.tui.reading.paint import ScreenRow, canvas, paint
from tfdbg_cli.tui.reading.reading import Reading

WHEEL = {4: -3, 5: 3}  # lines that a turn of the wheel scrolls, by the number of its button


class Drawing(NamedTuple):
    """What a pane looks like: its rows from the top, each as wide as the pane, and where the cursor stands."""

    rows: Sequence[ScreenRow]
    cursor: tuple[int, int] | None = None


class Pane(urwid.Widget):
    """A rectangle of the screen. A kind of pane draws itself, and overrides of the rest what it needs.

    `bindings` are keys of its own, which come before those of a document while it has the focus; their actions are
    command strings, `ui:NAME`, or `pane:NAME` for what `perform` does.
    """

    _sizing = frozenset([urwid.BOX])
    _selectable = False  # which pane has the focus is the state's to say: no click or key of urwid's may move it
    no_cache: ClassVar[list[str]] = ["render"]

    bindings: tuple[Binding, ...] = ()

    @property
    def title(self) -> str:
        """What it shows, in a few words: said above it where it stands beside others."""
        return ""

    @property
    def keys(self) -> tuple[Binding, ...]:
        """Those of its own keys that count now."""
        return self.bindings

    @property
    def reading(self) -> Reading | None:
        """The document in it, in which movement, search and links go on while it has the focus."""
        return None

    @property
    def belongs(self) -> bool:
        """Whether it belongs beside the page on show, where the screen has room for it."""
        return True

    @property
    def running(self) -> bool:
        """Whether it has something left to do between two keys."""
        return False

    @property
    def waits(self) -> bool:
        """Whether that is to wait for something far away: others can go on meanwhile."""
        return False

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on with that until it is `enough`, which is asked at least every few milliseconds."""

    @property
    def looks_ahead(self) -> bool:
        """Whether it can get ready for what the next key is likely to bring into sight."""
        return False

    def look_ahead(self, enough: Callable[[], bool]) -> None:
        """Go on with that until it is `enough`. It comes before all other work, so it must not be much."""

    def fit(self, cols: int, rows: int) -> None:
        """Get ready to be drawn at this size.

        Called before each drawing, and when a page opens, where Ctrl-C stops what takes its time.
        """

    def draw(self, cols: int, rows: int) -> Drawing:
        """The pane at this size. It asks for no more than it shows; rows that it leaves out are blank."""
        raise NotImplementedError

    def press(self, col: int, row: int) -> None:
        """The mouse was clicked at a place of it."""

    def scroll(self, lines: int) -> bool:
        """The wheel was turned over it; False: that is not for it."""
        return False

    def perform(self, name: str) -> None:
        """Do what the action `pane:NAME` of one of its keys says."""
        raise NotImplementedError

    def render(self, size: tuple[int, int], focus: bool = False) -> urwid.Canvas:  # type: ignore[override]
        cols, rows = size
        drawing = self.draw(cols, rows)
        blank = [paint(EMPTY_LINE, cols)] * (rows - len(drawing.rows))
        drawn: urwid.Canvas = canvas([*drawing.rows, *blank], cols, drawing.cursor if focus else None)
        return drawn

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool:
        if button in WHEEL:
            return self.scroll(WHEEL[button])
        self.press(col, row)
        return True
