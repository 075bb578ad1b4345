"""A pane that shows a document: the rows in sight, the selected line, a scroll bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from urwid.util import get_encoding

from tfdbg_cli.document.text import Line
from tfdbg_cli.tui.control.actions import Actions
from tfdbg_cli.tui.control.keymap import KeyContext
from tfdbg_cli.tui.control.pane import Drawing, Pane
from tfdbg_cli.tui.control.state import State
from tfdbg_cli.tui.reading.paint import Range, ScreenRow, assemble, attribute, cell, link_at, paint, side_by_side
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.reading.viewport import Viewport

_KEPT_ROWS = 4096  # painted
_GUTTER = 1  # columns left of the document, for the mark of the selected line
MARGINS = _GUTTER + 1  # and one at the right for the scroll bar


class DocumentPane(Pane):
    """Shows what `reading` gives. A kind of it says what that is.

    `marks_when_left` says whether the selected line stays marked while another pane has the focus.
    """

    marks_when_left = True

    def __init__(self, state: State, actions: Actions) -> None:
        super().__init__()
        self._state = state
        self._actions = actions
        self._painted: dict[int, tuple[Line, tuple[object, ...], ScreenRow]] = {}

    @property
    def reading(self) -> Reading:
        """The document on show and where the person is in it."""
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
            self.reading.finder.relaid()

    def draw(self, cols: int, rows: int) -> Drawing:
        view, finder = self.reading.view, self.reading.finder
        focused = self._state.focus is self
        shown = view.visible()
        thumb = _thumb(view, rows)
        painted: list[ScreenRow] = []
        cursor = None
        for row in range(rows):
            edge = cell("▐", "thumb") if row in thumb else cell(" ", "track")
            if row >= len(shown):
                painted.append(side_by_side(assemble([], cols - 1, attribute()), edge))
                continue
            index = shown[row]
            content = view.line(index)
            chosen = index == view.selected
            base = "head" if index == view.pinned else "selected" if chosen and focused else ""
            link = view.link if chosen and focused else None
            matches = finder.ranges(content) if finder.active else ()
            drawn = self.drawing_at(index)
            if drawn is None:
                drawn = self._paint(content, index, view, base, link, matches)
            marked = chosen and (focused or self.marks_when_left)
            painted.append(side_by_side(cell("▸" if marked else " ", "marker", base), drawn, edge))
            if chosen:
                # The hardware cursor stands at the selected line, for screen readers.
                cursor = (0, row)
        return Drawing(painted, cursor)

    def _paint(
        self, content: Line, index: int, view: Viewport, base: str, link: int | None, matches: Sequence[Range]
    ) -> ScreenRow:
        """The line painted; as it was before, where nothing of it changed: most of a screen stays from key to key."""
        how = (view.cols, view.left, base, link, tuple(matches), get_encoding())
        before = self._painted.get(index)
        if before is None or before[0] is not content or before[1] != how:
            if len(self._painted) > _KEPT_ROWS:
                self._painted.clear()
            drawn = paint(content, view.cols, base=base, left=view.left, focus=link, matches=matches)
            before = self._painted[index] = content, how, drawn
        return before[2]

    def drawing_at(self, index: int) -> ScreenRow | None:
        """What stands in the place of a line of the document, as wide as its view; None: the line itself."""
        return None

    @property
    def running(self) -> bool:
        return self.reading.late.running

    def work(self, enough: Callable[[], bool]) -> None:
        """Count what rows in sight lack."""
        self.reading.late.work(enough)

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
        if index != view.pinned and not found[1].heading:  # a head sorts, and the chosen row stays chosen
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
