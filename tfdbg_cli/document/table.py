"""Tables that show any number of rows, each made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tfdbg_cli.document.cells import clip, clip_start, display_width
from tfdbg_cli.document.later import Later
from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style
from tfdbg_cli.plain_text import printable

_GAP = 2  # columns between two of the table
_HELD = 50_000  # rows of a table without a width that are kept while it is printed, unless it says otherwise
_KEPT_BLANKS = 512
_SAMPLE = 200  # rows looked at to choose widths; wider cells further down are clipped on a screen


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, alignment, and how early it is dropped on a narrow screen (0: never)."""

    title: str
    right: bool = False
    drop: int = 0
    link: str = ""  # following the head runs this, usually a sort
    width: int = 0  # fixed width; 0: from the head and a sample of the rows
    keep_end: bool = False  # what does not fit is cut at the start: the end of a path says more
    least: int = 0  # the width it gives way to before a column is dropped; 0: it keeps its width
    subject: bool = False  # what the row is about: Enter follows its link, until a user chooses another


Row = Sequence[Span]


def _text_of(row: Row, column: int) -> str:
    return row[column].text


@dataclass(frozen=True)
class Table:
    """`count` rows, the i-th given by `row(i)`, one span a column. The last column takes the room that is left.

    Cells are read one by one and only in columns that are shown or measured, so a row may compute them lazily. `text`
    tells the text of a cell, by row and column, where that takes less than the cell: widths are chosen by it.
    """

    columns: tuple[Column, ...]
    count: int
    row: Callable[[int], Row]
    show_head: bool = True
    later: Later | None = None
    text: Callable[[Any, int], str] = _text_of
    measured: int = _HELD  # rows up to which all are made to choose widths for a stream; fewer where rows take long

    def lines(self, width: int | None) -> Sequence[Line]:
        table = self
        if width is None and self.count <= self.measured:
            # Every row is measured and then shown: made once, not twice.
            rows = [tuple(self.row(i)) for i in range(self.count)]
            table = replace(self, row=rows.__getitem__, text=_text_of)
        shown, widths = table._fit(width)
        return _TableLines(table, shown, widths, clipped=width is not None)

    def subject_link(self, row: int) -> str:
        """The link of what the row is about; empty where no column is said to be that."""
        at = next((at for at, column in enumerate(self.columns) if column.subject), None)
        return "" if at is None else self.row(row)[at].link

    def _fit(self, width: int | None) -> tuple[list[int], list[int]]:
        widths = [column.width or display_width(column.title) for column in self.columns]
        every = list(range(len(self.columns)))
        # Without a width nothing is clipped, so every row must be measured for the columns to line up. Of a very long
        # table a sample has to do: to make its rows once is long enough.
        if width is None:
            self._measure(widths, every, list(map(self.row, range(0, self.count, self._step(self.measured)))))
            return every, widths
        rows = list(map(self.row, range(0, self.count, self._step(_SAMPLE))))
        # Cells may take their time: those of a column that is left out whatever they hold are not made. Whether it is
        # can be told by the columns that stay longer.
        unmeasured = sorted(every, key=lambda j: (j != every[-1] and self.columns[j].drop, -j))
        while unmeasured and unmeasured[0] in self._possible(widths, width):
            self._measure(widths, unmeasured[:1], rows)
            del unmeasured[0]
        room = self._room(widths, width)
        narrowed = sum(max(0, widths[j] - column.least) for j, column in enumerate(self.columns) if column.least)
        if narrowed > 0 and self._taken(every, widths) - narrowed < room:  # how far depends on all
            self._measure(widths, unmeasured, rows)
        for j, column in enumerate(self.columns):
            if column.least and (excess := self._taken(every, widths) - room) > 0:
                widths[j] = min(widths[j], max(column.least, widths[j] - excess))
        shown = self._with_room(widths, room)
        widths[-1] = max(1, width - self._taken(shown, widths))
        return shown, widths

    def _step(self, most: int) -> int:
        """The distance between the rows that are measured where the table has more than `most`."""
        return 1 if self.count <= most else max(1, self.count // _SAMPLE)

    def _measure(self, widths: list[int], columns: Iterable[int], rows: Sequence[Row]) -> None:
        """Make `columns` as wide as their cells in `rows`."""
        text = self.text
        for j in columns:
            if not self.columns[j].width:
                texts = {text(row, j) for row in rows}  # most of a column are alike
                widths[j] = max([widths[j], *(display_width(printable(one)) for one in texts)])

    def _possible(self, widths: Sequence[int], width: int) -> list[int]:
        """The columns for which there is room as far as `widths` are known, with each as narrow as it may be."""
        least = [min(known, column.least or known) for known, column in zip(widths, self.columns, strict=True)]
        return self._with_room(least, self._room(least, width))

    def _room(self, widths: Sequence[int], width: int) -> int:
        """What is left of `width` for all but the last column."""
        return width - min(widths[-1], max(20, width // 3))

    def _with_room(self, widths: Sequence[int], room: int) -> list[int]:
        """The columns for which there is room, where they take `widths`."""
        last = len(self.columns) - 1
        shown = list(range(len(self.columns)))
        while self._taken(shown, widths) > room:
            droppable = [j for j in shown if self.columns[j].drop and j != last]
            if not droppable:
                break
            shown.remove(max(droppable, key=lambda j: self.columns[j].drop))
        return shown

    def _taken(self, shown: Sequence[int], widths: Sequence[int]) -> int:
        """Columns of the terminal that all but the last column take."""
        return sum(widths[j] + _GAP for j in shown if j != len(self.columns) - 1)


class _TableLines(LazyLines):
    """The head and the rows of a table as lines."""

    def __init__(self, table: Table, shown: list[int], widths: list[int], clipped: bool) -> None:
        self._table = table
        self._clipped = clipped
        self._head = 1 if table.show_head else 0
        # of each column that is shown: its number, its width, whether it stands right, whether another follows it
        self._places = [
            (j, widths[j], table.columns[j].right, j != shown[-1], table.columns[j].keep_end) for j in shown
        ]

    def __len__(self) -> int:
        return self._table.count + self._head

    def line_at(self, index: int) -> Line:
        """The line at `index`; see LazyLines."""
        if index < self._head:
            return self._join([Span(c.title, Style.HEADING, c.link) for c in self._table.columns])
        return self._join(self._table.row(index - self._head))

    def _join(self, cells: Row) -> Line:
        """The cells side by side; what is free between two texts is one span, which many rows have in common."""
        spans: list[Span] = []
        free = 0
        for j, width, right, followed, keep_end in self._places:
            cell = cells[j]
            left_over = width - display_width(cell.text)
            if left_over < 0 and self._clipped:
                text = clip_start(cell.text, width) if keep_end else clip(cell.text, width)
                cell, left_over = Span(text, cell.style, cell.link), width - display_width(text)
            if right and left_over > 0:
                free += left_over
            if cell.text:
                if free:
                    spans.append(_blanks(free))
                spans.append(cell)
                free = 0
            if followed:
                free += _GAP if right or left_over < 0 else left_over + _GAP
        if free:
            spans.append(_blanks(free))
        return Line(tuple(spans)) if spans else EMPTY_LINE


@lru_cache(maxsize=_KEPT_BLANKS)
def _blanks(columns: int) -> Span:
    return Span(" " * columns)
