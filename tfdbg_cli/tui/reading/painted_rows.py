"""Lines of a document as they were painted, and those of the next page painted before anybody turns to it."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

from urwid.util import get_encoding

from tfdbg_cli.tui.reading.paint import Range, ScreenRow, paint
from tfdbg_cli.tui.reading.reading import Reading

_KEPT_ROWS = 4096


class PaintedRows:
    """The rows of a pane. Most of a screen stays from key to key, so a line that is the same is not painted again."""

    def __init__(self) -> None:
        self._painted: OrderedDict[int, tuple[object, tuple[object, ...], ScreenRow]] = OrderedDict()

    def row(self, reading: Reading, index: int, base: str = "", link: int | None = None) -> ScreenRow:
        """The line at `index` on a ground of that look, with the chosen link."""
        view, seeker = reading.view, reading.seeker
        content = view.line(index)
        matches: Sequence[Range] = seeker.ranges(content, index) if seeker.active else ()
        how = (view.cols, view.left, base, link, tuple(matches), get_encoding())
        before = self._painted.get(index)
        if before is not None and before[0] is content and before[1] == how:
            return before[2]
        if len(self._painted) >= _KEPT_ROWS:
            self._painted.popitem(last=False)  # one by one: to free all of them takes as long as two frames
        drawn = paint(content, view.cols, base=base, left=view.left, focus=link, matches=matches)
        self._painted[index] = content, how, drawn
        return drawn


class RowsAhead:
    """Paints the rows above or below the window, those that come next when it is moved on in the same direction.

    Painting is most of what a frame takes. Only rows whose costly cells are counted later are painted: of other lines
    nobody knows what it takes to make them, and they may never be looked at.
    """

    def __init__(self, painted: PaintedRows) -> None:
        self._painted = painted
        self._before: tuple[object, int] | None = None  # what was drawn last, and from which line on
        self._left: deque[int] = deque()

    @property
    def running(self) -> bool:
        """Whether there is something left to paint."""
        return bool(self._left)

    def drawn(self, reading: Reading) -> None:
        """Note what is on the screen: where its window has moved since the last time, it is expected to move on."""
        view = reading.view
        before, self._before = self._before, (view, view.top)
        if before is None or before[0] is not view:
            self._left.clear()
        elif before[1] != view.top:
            down = view.top > before[1]
            first = view.top + view.rows if down else view.top - view.rows
            rows = [line for line, block, _ in view.block_rows(first, first + view.rows) if block.later is not None]
            self._left = deque(rows if down else reversed(rows))

    def work(self, reading: Reading, enough: Callable[[], bool]) -> None:
        """Paint until it is `enough`."""
        while self._left and self._before is not None and self._before[0] is reading.view:
            line = self._left.popleft()
            reading.late.foresee(line)
            self._painted.row(reading, line)
            if enough():
                return
        self._left.clear()
