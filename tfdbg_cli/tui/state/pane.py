"""A part of the screen: a widget with its own size, document, keys and mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import urwid

from tfdbg_cli.document.text import EMPTY_LINE
from tfdbg_cli.tui.keys.keymap import Binding
from tfdbg_cli.tui.reading.paint import ScreenRow, canvas, paint
from tfdbg_cli.tui.reading.reading import Reading

WHEEL = {4: -3, 5: 3}  # lines that a turn of the wheel scrolls, by the number of its button


class Drawing(NamedTuple):
    """What a pane looks like: its rows from the top, each as wide as the pane, and where the cursor stands."""

    rows: Sequence[ScreenRow]
    cursor: tuple[int, int] | None = None


class Pane(urwid.Widget):
    """A rectangle of the screen. A subclass implements `draw`, and overrides of the rest what it needs.

    `bindings` are its own keys, which take precedence over those of a document while it has the focus; their actions
    are command strings, `ui:NAME`, or `pane:NAME`, which `perform(NAME)` carries out.
    """

    _sizing = frozenset([urwid.BOX])
    _selectable = False  # `ScreenState.focus` decides which pane has the focus, so urwid must not move its own
    no_cache: ClassVar[list[str]] = ["render"]

    bindings: tuple[Binding, ...] = ()

    @property
    def title(self) -> str:
        """What the pane shows, in a few words; drawn above it when it stands beside others."""
        return ""

    @property
    def keys(self) -> tuple[Binding, ...]:
        """Those of its `bindings` that apply at the moment."""
        return self.bindings

    @property
    def reading(self) -> Reading | None:
        """The document in which keys move, search and follow links while the pane has the focus; None: the page."""
        return None

    @property
    def belongs(self) -> bool:
        """Whether it belongs beside the page on show, where the screen has room for it."""
        return True

    @property
    def running(self) -> bool:
        """Whether the pane has unfinished work, for `work` to do between key presses."""
        return False

    @property
    def waits(self) -> bool:
        """Whether its work only waits for remote data at the moment, so that other panes may work meanwhile."""
        return False

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on with the unfinished work until `enough()`, which must be called at least every few milliseconds."""

    @property
    def looks_ahead(self) -> bool:
        """Whether `look_ahead` can prepare what the next key is likely to bring into sight."""
        return False

    def look_ahead(self, enough: Callable[[], bool]) -> None:
        """Prepare it until `enough()`. This has precedence over all other work, so it must not be much."""

    def fit(self, cols: int, rows: int) -> None:
        """Do what is slow about drawing the pane at this size, such as laying out a document.

        Called before each drawing, and also when a page opens, where Ctrl-C can interrupt it.
        """

    def draw(self, cols: int, rows: int) -> Drawing:
        """Draw the pane at this size, computing only what is visible; rows missing at the end are blank."""
        raise NotImplementedError

    def press(self, col: int, row: int) -> None:
        """Handle a click at a place in the pane."""

    def scroll(self, lines: int) -> bool:
        """Scroll by so many lines (negative: up) for the mouse wheel; False if the pane does not scroll."""
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
