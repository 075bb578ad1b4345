"""A pane that shows a document: the rows in sight, the selected line, a scroll bar."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.reading.paint import ScreenRow, assemble, attribute, cell, link_at, side_by_side
from tfdbg_cli.tui.reading.painted_rows import PaintedRows, RowsAhead
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import ScreenState
from tfdbg_cli.tui.terminal.theme import THEMES

_GUTTER = 1  # columns left of the document, for the mark of the selected line
MARGINS = _GUTTER + 1  # and one at the right for the scroll bar


class DocumentPane(Pane):
    """Shows what `reading` gives. A kind of it says what that is.

    `marks_when_left` says whether the selected line stays marked while another pane has the focus.
    """

    marks_when_left = True

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__()
        self._state = state
        self._actions = actions
        self._painted = PaintedRows()
        self._ahead = RowsAhead(self._painted)

    @property
    def reading(self) -> Reading:
        """The document on show and where the user is in it."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        return self.reading.document.title

    def fit(self, cols: int, rows: int) -> None:
        """Lay the document out, and make the lines in sight."""
        view = self.reading.view
        before = view.cols
        view.resize(cols - MARGINS, rows)
        if before and before != view.cols:
            self.reading.seeker.relaid()

    def draw(self, cols: int, rows: int) -> Drawing:
        reading = self.reading
        view, figures = reading.view, reading.figures
        colors = self._state.colors if self._state.service.settings.theme in THEMES else 1
        focused = self._state.focus is self
        shown, pinned = view.visible(), view.pinned
        thumb, edges = _thumb(view, rows), (cell(" ", "track"), cell("▐", "thumb"))
        marks = cell(" ", "marker"), cell("▸", "marker")
        below = assemble([], cols - 1, attribute())  # what stands where the document has ended
        painted: list[ScreenRow] = []
        cursor = None
        for row in range(rows):
            edge = edges[row in thumb]
            if row >= len(shown):
                painted.append(side_by_side(below, edge))
                continue
            index = shown[row]
            chosen = index == view.selected
            base = "head" if index in pinned[-1:] else "selected" if chosen and focused else ""
            link = view.link if chosen and focused else None
            drawn = figures.row_at(index, colors)
            if drawn is None:
                drawn = self._painted.row(reading, index, base, link)
            marked = chosen and (focused or self.marks_when_left)
            mark = cell("▸" if marked else " ", "marker", base) if base else marks[marked]
            painted.append(side_by_side(mark, drawn, edge))
            if chosen:
                # The hardware cursor stands at the selected line, for screen readers.
                cursor = (0, row)
        self._ahead.drawn(reading)
        return Drawing(painted, cursor)

    @property
    def running(self) -> bool:
        return self.reading.late.running or self.reading.figures.running

    @property
    def looks_ahead(self) -> bool:
        return self._ahead.running

    def look_ahead(self, enough: Callable[[], bool]) -> None:
        self._ahead.work(self.reading, enough)

    @property
    def waits(self) -> bool:
        return self.reading.late.waits

    def work(self, enough: Callable[[], bool]) -> None:
        """Count what rows in sight lack, and draw the figures."""
        self.reading.late.work(enough)
        self.reading.figures.work(enough, meanwhile=self.waits)

    def scroll(self, lines: int) -> bool:
        self.reading.view.scroll(lines)
        return True

    def press(self, col: int, row: int) -> None:
        """Select the line, follow the link, or go to the part that a place of the scroll bar stands for."""
        view = self.reading.view
        if self._state.place is not KeyContext.DOCUMENT:
            self._actions.close()
        if col >= view.cols + _GUTTER:
            last = max(0, len(view.lines) - view.rows)
            view.scroll(round(last * row / max(1, view.rows - 1)) - view.top)
            return
        shown = view.visible()
        if row >= len(shown):
            return
        index = shown[row]
        found = link_at(view.links(index), col - _GUTTER + view.left)
        if found is None:
            view.choose(index, None)
            return
        if index not in view.pinned and not found[1].heading:  # a head sorts, and the chosen row stays chosen
            view.choose(index, found[0])
        self._actions.follow(found[1])


def _thumb(view: Viewport, rows: int) -> range:
    """The rows of the scroll thumb; none when everything is in sight."""
    total = len(view.lines)
    if total <= rows:
        return range(0)
    size = max(1, rows * rows // total)
    start = round(view.top / (total - rows) * (rows - size))
    return range(start, start + size)
