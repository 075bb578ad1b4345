"""Tables that show any number of rows, each made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tfdbg_cli.document.cells import clip, clip_start, display_width, pad
from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style

_GAP = "  "
_HELD = 50_000  # rows of a table without a width that are kept while it is printed
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


Row = Sequence[Span]


class Later(Protocol):
    """What is counted of a row only after it was shown, since that takes its time."""

    def missing(self, row: int) -> bool:
        """Whether cells of the row are still to be counted; they say so meanwhile."""
        ...

    def count(self, row: int) -> Iterator[None]:
        """Count what the row lacks, a little at a time."""
        ...


@dataclass(frozen=True)
class Table:
    """`count` rows, the i-th given by `row(i)`, one span a column. The last column takes the room that is left.

    Cells are read one by one and only in columns that are shown or measured, so a row may compute them lazily.
    """

    columns: tuple[Column, ...]
    count: int
    row: Callable[[int], Row]
    show_head: bool = True
    later: Later | None = None

    def lines(self, width: int | None) -> Sequence[Line]:
        table = self
        if width is None and self.count <= _HELD:
            # Every row is measured and then shown: made once, not twice.
            table = replace(self, row=[tuple(self.row(i)) for i in range(self.count)].__getitem__)
        shown, widths = table._fit(width)
        return _TableLines(table, shown, widths, clipped=width is not None)

    def _fit(self, width: int | None) -> tuple[list[int], list[int]]:
        widths = [column.width or display_width(column.title) for column in self.columns]
        step = max(1, self.count // _SAMPLE)
        # Without a width nothing is clipped, so every row must be measured for the columns to line up. Of a very long
        # table a sample has to do: to make its rows once is long enough.
        measured = [j for j, column in enumerate(self.columns) if not column.width]
        if width is None and self.count <= _HELD:
            step = 1
        for i in range(0, self.count, step):
            row = self.row(i)
            for j in measured:
                widths[j] = max(widths[j], display_width(row[j].text))
        shown = list(range(len(self.columns)))
        if width is None:
            return shown, widths
        last = len(self.columns) - 1
        room = width - min(widths[last], max(20, width // 3))
        for j, column in enumerate(self.columns):
            if column.least and (excess := self._taken(shown, widths) - room) > 0:
                widths[j] = min(widths[j], max(column.least, widths[j] - excess))
        while self._taken(shown, widths) > room:
            droppable = [j for j in shown if self.columns[j].drop and j != last]
            if not droppable:
                break
            shown.remove(max(droppable, key=lambda j: self.columns[j].drop))
        widths[last] = max(1, width - self._taken(shown, widths))
        return shown, widths

    def _taken(self, shown: list[int], widths: list[int]) -> int:
        """Columns of the terminal that all but the last column take."""
        return sum(widths[j] + len(_GAP) for j in shown if j != len(self.columns) - 1)


class _TableLines(LazyLines):
    """The head and the rows of a table as lines."""

    def __init__(self, table: Table, shown: list[int], widths: list[int], clipped: bool) -> None:
        self._table = table
        self._shown = shown
        self._widths = widths
        self._clipped = clipped
        self._head = 1 if table.show_head else 0

    def __len__(self) -> int:
        return self._table.count + self._head

    def line_at(self, index: int) -> Line:
        """The line at `index`; see LazyLines."""
        if index < self._head:
            return self._join([Span(c.title, Style.HEADING, c.link) for c in self._table.columns])
        return self._join(self._table.row(index - self._head))

    def _join(self, cells: Row) -> Line:
        spans: list[Span] = []
        for j in self._shown:
            cell, width = cells[j], self._widths[j]
            cut = clip_start if self._table.columns[j].keep_end else clip
            text = cut(cell.text, width) if self._clipped else cell.text
            last = j == self._shown[-1]
            filler = "" if last and not self._table.columns[j].right else pad(text, width)
            if spans:
                spans.append(Span(_GAP))
            if self._table.columns[j].right:
                spans.append(Span(filler))
            spans.append(Span(text, cell.style, cell.link))
            if not self._table.columns[j].right and filler:
                spans.append(Span(filler))
        return Line(tuple(span for span in spans if span.text)) if spans else EMPTY_LINE
