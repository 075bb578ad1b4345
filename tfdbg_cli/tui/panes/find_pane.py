"""The pane of the finder: the line that is typed, and the hits below it."""

from __future__ import annotations

from tfdbg_cli.document.text import EMPTY_LINE, line
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.actions.find_dialog import FindDialog
from tfdbg_cli.tui.panes.dialog_pane import DialogPane, edge, framed
from tfdbg_cli.tui.panes.layout import Rect
from tfdbg_cli.tui.reading.paint import ScreenRow, attribute, columns, paint, side_by_side
from tfdbg_cli.tui.state.pane import Drawing

_COLS, _ROWS = 110, 24
_LOW = 14  # rows of a screen on which it may cover the bar of the pages
_CAPTION = "> "


class FindPane(DialogPane):
    """A frame with the typed line on top. It keeps its size while the hits change."""

    def __init__(self, dialog: FindDialog, actions: Actions) -> None:
        super().__init__(dialog, actions)
        self._find = dialog

    def place(self, cols: int, rows: int) -> Rect:
        """The rectangle that it takes near the top of a screen, frame included."""
        wide, high = min(cols - 2, _COLS), min(rows - (5 if rows > _LOW else 3), _ROWS)
        self.view.resize(wide - 6, max(1, high - 3))
        return Rect((cols - wide) // 2, max(0, min(2, (rows - high) // 2)), wide, high)

    def draw(self, cols: int, rows: int) -> Drawing:
        view, frame = self.view, attribute("box")
        view.resize(cols - 6, max(1, rows - 3))
        typed, at = self._typed(cols - 4)
        drawn = [edge("┌", f" {self.title} ", "┐", cols), framed(typed, frame)]
        visible = view.visible()
        for row in range(rows - 3):
            index = visible[row] if row < len(visible) else -1
            content = view.line(index) if index >= 0 else EMPTY_LINE
            chosen = index >= 0 and index == view.selected
            mark = paint(line("▸ " if chosen else "  "), 2, base="box")
            text = paint(content, cols - 6, base="box", focus=view.link if chosen else None)
            drawn.append(framed(side_by_side(mark, text), frame))
        drawn.append(edge("└", f" {self._find.count} ", "┘", cols))
        return Drawing(drawn, (2 + at, 1))

    def press(self, col: int, row: int) -> None:
        """Follow the hit."""
        super().press(col, row - 1)

    def _typed(self, cols: int) -> tuple[ScreenRow, int]:
        """The typed line at `cols` columns, and where its cursor stands in it."""
        editor = self._find.editor
        room = cols - len(_CAPTION)
        before = columns(printable(editor.text[: editor.cursor]))
        left = max(0, before - room + 1)
        caption = paint(line(_CAPTION), len(_CAPTION), base="box")
        return side_by_side(caption, paint(line(editor.text), room, base="box", left=left)), len(
            _CAPTION
        ) + before - left
