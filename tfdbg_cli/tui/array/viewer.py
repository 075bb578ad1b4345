"""One array being looked at: which part of it, in which way, where the cursor is, and what is looked for in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any

from tfdbg_cli.document.array_words import is_text, scalar_text, text_word
from tfdbg_cli.document.cells import clip_start, display_width
from tfdbg_cli.document.text import Line, Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.units import shape_text
from tfdbg_cli.model.values import Array
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.array.health import RowHealth, examined, health_strips
from tfdbg_cli.tui.array.heatmap import heatmap
from tfdbg_cli.tui.array.histogram import Counts, counted, histogram
from tfdbg_cli.tui.array.jumps import AT_ONCE, Jumps
from tfdbg_cli.tui.array.levels import Scale, require_numbers, scale_of
from tfdbg_cli.tui.array.line_plot import line_plot
from tfdbg_cli.tui.array.number_style import NumberStyle
from tfdbg_cli.tui.array.numbers import Corner, grid, tracks
from tfdbg_cli.tui.array.picture import picture
from tfdbg_cli.tui.array.plane import Index, Plane
from tfdbg_cli.tui.array.scan import Scan
from tfdbg_cli.tui.array.surface import CellGrid, Drawn, Row, Surface
from tfdbg_cli.tui.array.track import window

_HEAD = 1  # rows above the elements
_ROWS_FOR_FACTS = 7  # with fewer on the screen, all but the head are for the elements
_LEAST_NAME = 16  # columns of a name that does not fit beside what else the head tells
_KEPT_ROWS = 4096  # rows of the batch whose health is remembered
_CHANNELS = frozenset({1, 3, 4})  # lengths of a last axis that are colours rather than columns


class ViewMode(Enum):
    """The ways to look at an array, by the names that the actions of keys have."""

    NUMBERS = "numbers"
    HEATMAP = "heatmap"
    PICTURE = "picture"
    HISTOGRAM = "histogram"
    LINE = "line"
    HEALTH = "health"


class Viewer:
    """`array`, which has elements, called `name`, as it is looked at.

    `threshold` is the number of elements above which only ends are shown, where that is wished for. `facts` is
    what is known of the whole array, such as its health; it stands below the head where there is room.
    """

    def __init__(
        self, array: Array, name: str, threshold: int, style: NumberStyle | None = None, facts: Line | None = None
    ) -> None:
        self.name = name
        self._facts = facts
        self._above = _HEAD  # rows above the elements of the last drawing
        self.plane = Plane.of(array.shape)
        self.mode = ViewMode.NUMBERS
        self.style = style or NumberStyle()
        self.array = array
        self.jumps = Jumps(array, self)
        self._threshold = threshold
        self._corner = Corner()
        self._rows = 1  # of the last drawing
        self._cells: CellGrid | None = None  # of the last drawing
        self._scale: tuple[object, Scale] | None = None
        self._counts: tuple[object, Counts | None] = (None, None)
        self._health: dict[int, RowHealth] = {}

    @property
    def here(self) -> Index:
        """The element with the cursor."""
        return self.plane.cursor

    def go(self, index: Index) -> None:
        """Put the cursor on this element; where it was left out, every element is shown from now on."""
        self.jumps.forget()
        self.plane = self.plane.at(index)
        rows, columns = tracks(self.plane, self.style)
        if rows.place(rows.slot(self.plane.row)) is None or columns.place(columns.slot(self.plane.col)) is None:
            self.style = replace(self.style, threshold=None)

    def require(self, index: Index) -> None:
        """Refuse an index that the array does not have.

        Raises:
            TfdbgError: the message names the shape.

        """
        shape = self.array.shape
        if len(index) != len(shape) or not all(i < length for i, length in zip(index, shape, strict=True)):
            raise TfdbgError(f"There is no element {list(index)}: the shape is {shape_text(shape)}.")

    def resembles(self, other: Viewer) -> None:
        """Look at this array as `other` looks at its own, if both have one shape."""
        if other.array.shape == self.array.shape:
            self.plane, self.style = other.plane, other.style
            self.show(other.mode)

    # What the user asks for.

    def move(self, down: int, across: int) -> bool:
        """The cursor so many rows down and columns to the right; False where it stays."""
        before = self.plane
        if self.mode is ViewMode.HEALTH:
            if self.array.ndim:
                self.plane = before.along(0, before.cursor[0] + down)
            return self.plane != before
        rows, columns = tracks(before, self._shown_style)
        self.plane = before.along(before.down, rows.moved(before.row, down)) if down else before
        if across:
            self.plane = self.plane.along(before.across, columns.moved(before.col, across))
        return self.plane != before

    def end(self, down: bool, last: bool) -> bool:
        """The cursor to the first or the last row, or with `down` False, column; False where it stays."""
        before = self.plane
        axis = before.down if down else before.across
        if self.mode is ViewMode.HEALTH:  # which has nothing but the rows of the batch
            axis = 0 if self.array.ndim else None
        if axis is not None:
            self.plane = before.along(axis, self.array.shape[axis] - 1 if last else 0)
        return self.plane != before

    def page(self, pages: float) -> bool:
        """The cursor so many screens down; False where it stays."""
        step = int(max(1, self._rows - 1) * pages)
        return self.move(step or (1 if pages > 0 else -1), 0)

    def in_sight(self, share: float) -> None:
        """The cursor to the first row in sight (0), the last one (1), or one between."""
        if self.mode is ViewMode.HEALTH:
            length = self.array.shape[0] if self.array.ndim else 1
            rows = list(range(self._corner.top, min(length, self._corner.top + self._rows)))
            axis = 0 if self.array.ndim else None
        else:
            drawn = range(self.plane.height) if self._cells is None else self._cells.rows
            rows = [row for row in drawn if row is not None]
            axis = self.plane.down
        if axis is not None and rows:
            self.plane = self.plane.along(axis, rows[round(share * (len(rows) - 1))])

    def show(self, mode: ViewMode) -> None:
        """Look at the array this way.

        Raises:
            TfdbgError: there are no numbers to draw.

        """
        if mode is not ViewMode.NUMBERS:
            require_numbers(self.array)
        colours = self.array.ndim > 2 and self.array.shape[-1] in _CHANNELS
        if mode is ViewMode.PICTURE and colours and self.plane.across == self.array.ndim - 1:
            self.plane = self.plane.showing(self.array.ndim - 3, self.array.ndim - 2)
        self.mode = mode
        self._corner = Corner()
        self._counts = None, None

    def turn(self, change: Callable[[Plane], Plane]) -> bool:
        """Show another part of the array; False where that is the same."""
        before = self.plane
        self.plane = change(before)
        if self.plane.key[:2] != before.key[:2]:
            self._corner = Corner()
        return self.plane != before

    def restyle(self, style: NumberStyle) -> None:
        """Write the numbers in another way."""
        self.style = style

    def shorten(self) -> None:
        """Show only the ends of long axes, or all again."""
        wanted = None if self.style.threshold is not None else self._threshold
        self.style = replace(self.style, threshold=wanted)
        self._corner = Corner()
        rows, columns = tracks(self.plane, self.style)
        self.plane = self.plane.along(self.plane.down, rows.moved(self.plane.row, 0))
        self.plane = self.plane.along(self.plane.across, columns.moved(self.plane.col, 0))

    def press(self, col: int, row: int) -> None:
        """Put the cursor on the element at this place of the last drawing, if there is one."""
        found = self._cells.at(col, row - self._above) if self._cells is not None else None
        if found is not None:
            self.plane = self.plane.along(self.plane.down, found[0]).along(self.plane.across, found[1])

    # What there is to see.

    @property
    def place(self) -> str:
        """Name and index of the element with the cursor, as commands take them: `x:0[3,17]`."""
        name, bracket, outer = self.name.removesuffix("]").partition("[")
        index = ",".join(map(str, self.here))
        return f"{name}[{outer}{',' if bracket and index else ''}{index}]" if outer or index else name

    @property
    def element(self) -> str:
        """The element with the cursor, as exactly as its type has it."""
        item = self.array[self.here + (...,)]  # noqa: RUF005  # an array without axes, whatever the type
        if is_text(item):
            return text_word(item[()], shorten=True)
        return printable(scalar_text(item, {"precision": 20, "suppress_small": False, "floatmode": "unique"}))

    @property
    def status(self) -> str:
        """Which element it is, and what was looked for."""
        said = f"{list(self.here)}  {self.element}"
        return f"{said}  · {self.jumps.notice}" if self.jumps.notice else said

    @property
    def position(self) -> str:
        """Row and column of the cursor, and how many there are; of the health of a batch only its row."""
        if self.mode is ViewMode.HEALTH and self.array.ndim:
            return f"{self.here[0]}/{self.array.shape[0]}"
        return f"{self.plane.row}/{self.plane.height}, {self.plane.col}/{self.plane.width}"

    def draw(self, surface: Surface) -> Drawn:
        """Head and elements. Work that does not end at once goes on in `jumps`."""
        head = [self._head(surface.cols)]
        if self._facts is not None and surface.rows >= _ROWS_FOR_FACTS:
            head.append([(" ", ()), *((span.text, (span.style,)) for span in self._facts.spans)])
        self._above = len(head)
        below = replace(surface, rows=max(1, surface.rows - self._above))
        drawn = self._body(below)
        self._cells = drawn.cells
        cursor = None if drawn.cursor is None else (drawn.cursor[0], drawn.cursor[1] + self._above)
        return Drawn([*head, *drawn.rows[: below.rows]], cursor)

    def _head(self, cols: int) -> Row:
        """Name and index, and at the right what kind of array it is and how it is shown."""
        where = f" {self.plane.where}"
        name = printable(self.name)
        shape = f"{name_of(self.array.dtype)} {shape_text(self.array.shape)}"
        gap = 0
        for parts in ((shape, self._way, self.style.words), (self._way, self.style.words), (self._way,)):
            right = "  ".join(part for part in parts if part)
            room = cols - display_width(where) - display_width(right) - 4
            if room >= min(display_width(name), _LEAST_NAME):  # the end of a path says more than its beginning
                name = clip_start(name, room)
                gap = 2 + room - display_width(name)
                break
        name = clip_start(name, max(1, cols - display_width(where) - 1))
        row: Row = [(f" {name}", (Style.TITLE,)), (where, (Style.NUMBER,))]
        return [*row, (" " * gap, ()), (right, (Style.DIM,))] if gap >= 2 else row

    @property
    def _way(self) -> str:
        """In which way it is looked at."""
        if is_text(self.array):
            return "texts"
        drawn = self.array.dtype.kind == "c" and self.mode is not ViewMode.NUMBERS
        return f"{self.mode.value} of magnitudes" if drawn else self.mode.value

    def _body(self, surface: Surface) -> Drawn:
        self._rows = max(1, surface.rows - 1)
        array, plane = self.array, self.plane
        if self.mode is ViewMode.HEATMAP:
            drawn, self._corner = heatmap(array, plane, self._scale_here, self._corner, surface)
            return drawn
        if self.mode is ViewMode.PICTURE:
            return picture(array, plane, self._scale_here, surface)
        if self.mode is ViewMode.LINE:
            return line_plot(array, plane, surface)
        if self.mode is ViewMode.HISTOGRAM:
            counts = self._counts_here()
            aside = self.jumps.aside
            share = aside.share if aside is not None and aside.running else None
            return histogram(counts, share, surface)
        if self.mode is ViewMode.HEALTH:
            return self._strips(surface)
        drawn, self._corner = grid(array, plane, self.style, self._corner, surface)
        return drawn

    @property
    def _shown_style(self) -> NumberStyle:
        """Only the grid of numbers leaves anything out."""
        return self.style if self.mode is ViewMode.NUMBERS else replace(self.style, threshold=None)

    @property
    def _scale_here(self) -> Scale:
        key = self.plane.key
        if self._scale is None or self._scale[0] != key:
            self._scale = key, scale_of(self.plane.elements(self.array))
        return self._scale[1]

    def _counts_here(self) -> Counts | None:
        """The counts of this part of the array, None while they are made."""
        key = self.plane.key
        if self._counts[0] != key:
            self._counts = key, None

            def keep(counts: Counts) -> None:
                self._counts = key, counts

            self._begin(Scan(counted(self.plane.elements(self.array)), keep))
        return self._counts[1]

    def _strips(self, surface: Surface) -> Drawn:
        length = self.array.shape[0] if self.array.ndim else 1
        at = self.here[0] if self.here else 0
        high = max(1, surface.rows - 1)
        top = window(self._corner.top, at, high, length)
        self._corner = Corner(top)
        rows = range(top, min(length, top + high))
        missing = [row for row in rows if row not in self._health]
        if missing and not self.jumps.busy_aside and not self.jumps.halted:
            if len(self._health) > _KEPT_ROWS:
                self._health.clear()
            self._begin(Scan(examined(self.array, missing, self._health.__setitem__), lambda done: None))
        return health_strips(self._health, rows, at, surface)

    def _begin(self, scan: Scan[Any]) -> None:
        """Do the first steps of work that the drawing asks for; the rest is done beside the screen."""
        if self.jumps.aside is not None:
            self.jumps.aside.stop()
        self.jumps.aside = scan
        scan.work(AT_ONCE)
