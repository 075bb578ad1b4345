"""The pane of what opens over the others: the list of keys, the question how to leave."""

from __future__ import annotations

from collections.abc import Hashable

from tfdbg_cli.document.text import EMPTY_LINE, Style
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.panes.layout import Rect
from tfdbg_cli.tui.reading.paint import ScreenRow, assemble, attribute, columns, paint, side_by_side
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import Dialog

_COLS = 76


class DialogPane(Pane):
    """A dialog in its frame."""

    def __init__(self, dialog: Dialog, actions: Actions) -> None:
        super().__init__()
        self._dialog = dialog
        self._actions = actions

    @property
    def title(self) -> str:
        return self._dialog.title

    @property
    def view(self) -> Viewport:
        """The lines in it."""
        return self._dialog.view

    def place(self, cols: int, rows: int) -> Rect:
        """The rectangle that it takes in the middle of a screen, frame included."""
        wide = min(cols - 4, _COLS)
        self.view.resize(wide - 4, max(1, rows - 4))
        high = min(rows - 2, len(self.view.lines) + 2)
        return Rect((cols - wide) // 2, max(0, (rows - high) // 2), wide, high)

    def draw(self, cols: int, rows: int) -> Drawing:
        view = self.view
        view.resize(cols - 4, rows - 2)
        frame = attribute("box")
        drawn = [edge("┌", f" {self.title} ", "┐", cols)]
        cursor = None
        shown = view.visible()
        for row in range(rows - 2):
            index = shown[row] if row < len(shown) else -1
            content = view.line(index) if index >= 0 else EMPTY_LINE
            chosen = index == view.selected and view.link is not None
            inner = paint(content, cols - 4, base="box", focus=view.link if chosen else None)
            drawn.append(framed(inner, frame))
            if chosen:
                cursor = (1, row + 1)
        more = f" {view.selected + 1}/{len(view.lines)} " if len(view.lines) > rows - 2 else ""
        drawn.append(edge("└", more, "┘", cols))
        return Drawing(drawn, cursor)

    def scroll(self, lines: int) -> bool:
        self.view.scroll(lines)
        return True

    def press(self, col: int, row: int) -> None:
        """Follow the link of the line."""
        shown = self.view.visible()
        at = row - 1
        if 0 <= at < len(shown) and self.view.links(shown[at]):
            self.view.choose(shown[at], 0)
            self._actions.perform("ui:follow")


def framed(row: ScreenRow, frame: Hashable) -> ScreenRow:
    """`row` between the sides of a frame."""
    return side_by_side(assemble([("│ ", frame)], 2, frame), row, assemble([(" │", frame)], 2, frame))


def edge(left: str, words: str, right: str, wide: int) -> ScreenRow:
    """The upper or lower side of a frame with `words` in it."""
    frame = attribute("box")
    bold = attribute(Style.TITLE, "box")
    fill = "─" * max(0, wide - 3 - columns(words))
    return assemble([(f"{left}─", frame), (words, bold), (fill + right, frame)], wide, frame)
