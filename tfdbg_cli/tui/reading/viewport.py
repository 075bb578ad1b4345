"""Where a user is in a document: the rows on the screen, the selected line, the link chosen on it."""

from __future__ import annotations

import bisect
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from tfdbg_cli.document.document import Document
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.table import Table
from tfdbg_cli.document.text import EMPTY_LINE, SHOW_ALL, Line
from tfdbg_cli.tui.reading.layout import DocumentLayout, LaidOutBlock
from tfdbg_cli.tui.reading.paint import LinkPlace, columns, links_of

_KEPT_LINES = 4096
LINK_REACH = 5000  # lines that a walk to the next link looks at


class Viewport:
    """A document seen through a window of `cols` by `rows`. It asks for no more lines than it shows.

    `top` is the first line in the window, `selected` the line with the cursor, `link` the index of the chosen link
    on it (None: there is none), `left` the columns scrolled off. Lines count from 0.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.cols = 0
        self.rows = 1
        self.top = 0
        self.left = 0
        self.selected = 0
        self.link: int | None = None
        self._layout = DocumentLayout(document, 0)
        self._goal: int | None = None  # the column that walking up and down keeps to; None: to what a row is about
        self._kept: OrderedDict[int, Line] = OrderedDict()

    def resize(self, cols: int, rows: int) -> None:
        """Lay the document out for a window of this size; what was selected stays selected and in sight."""
        first = not self.cols
        if cols != self.cols:
            place = self._place(self.selected)
            above = self.selected - self.top
            self._lay_out(cols)
            self.selected = self._line_at(place)
            self.top = self.selected - above
            if not first:
                self._choose_link()
        self.rows = max(1, rows)
        if first and self.document.focus is not None:
            self.selected = self._layout.line_of(self.document.focus)
            self.top = self.selected - self.rows // 2
            self._choose_link()
        elif first:
            self.begin()
        self._settle()

    def renew(self, document: Document) -> None:
        """Show `document`, a later state of what is shown: the cursor stays on its row, and that in its place.

        What is above the last block may have got longer or shorter; the rows of that block are counted from its head.
        """
        self.document = document
        if not self.cols:
            return
        before = self.parts[-1].start
        self._lay_out(self.cols)
        moved = self.parts[-1].start - before
        self.selected, self.top = max(0, self.selected + moved), self.top + moved
        self._settle()

    def begin(self) -> None:
        """Show the beginning, and select its first link that is no heading; of a list the first row, not its head."""
        self.top = self.left = 0
        near = range(min(len(self.lines), self.rows))
        listed = len(self.parts) == 2 and self.parts[1].headed and self.parts[1].length > 1
        rows = near[self.parts[1].start :] if listed else near
        first = (i for part in (rows, near) for i in part if any(map(_leads_on, self.links(i))))
        alone = (i for i in near if any(not link.heading for link in self.links(i)))
        self.selected = next((i for found in (first, alone) for i in found), 0)
        self._choose_link()

    def _lay_out(self, cols: int) -> None:
        self._layout = DocumentLayout(self.document, cols)
        self.cols = cols
        self._kept.clear()

    @property
    def lines(self) -> Sequence[Line]:
        """All lines of the document in its present layout."""
        return self._layout.lines

    @property
    def parts(self) -> Sequence[LaidOutBlock]:
        """Which of the lines each block of the document has."""
        return self._layout.parts

    def line(self, index: int) -> Line:
        """The line at `index`, kept for the next time it is asked for."""
        found = self._kept.get(index)
        if found is None:
            if len(self._kept) >= _KEPT_LINES:
                self._kept.popitem(last=False)  # one by one: to free all of them takes as long as two frames
            found = self.lines[index] if 0 <= index < len(self.lines) else EMPTY_LINE
            self._kept[index] = found
        return found

    def forget(self, index: int) -> None:
        """Make the line at `index` anew when it is asked for: what it shows has changed."""
        self._kept.pop(index, None)

    def rows_in_sight(self) -> Iterator[tuple[int, Table | Rows, int]]:
        """The lines in the window that are rows of a block, each with the block and the number of the row."""
        return self.block_rows(self.top, self.top + self.rows)

    def block_rows(self, start: int, end: int) -> Iterator[tuple[int, Table | Rows, int]]:
        """The same of the lines from `start` to before `end`."""
        return self._layout.rows(start, end)

    def links(self, index: int) -> list[LinkPlace]:
        """The links on the line at `index`."""
        return links_of(self.line(index))

    @property
    def chosen(self) -> LinkPlace | None:
        """The link that Enter follows."""
        if self.link is None:
            return None
        links = self.links(self.selected)
        return links[self.link] if self.link < len(links) else None

    @property
    def pinned(self) -> Sequence[int]:
        """What stays in the first rows: the head of the table whose middle is in sight, and what stays above that."""
        return self._pinned_at(self.top)

    def _pinned_at(self, top: int) -> Sequence[int]:
        if self.document.stays is not None and self.parts[-1].headed:
            above = self.parts[self.document.stays]
            lines = (*range(above.start, above.start + above.length), self.parts[-1].start)
            if len(lines) <= self.rows // 2 and top > above.start:
                return lines
        part = self._layout.part_at(top)
        return (part.start,) if part is not None and part.headed and self.rows > 2 and top > part.start else ()

    def heads(self) -> list[str]:
        """What the heads of the table in sight run, or of the first one of the document; also of columns left out."""
        return self._layout.heads(self.selected)

    def visible(self) -> list[int]:
        """The lines in the window, from its first row on; the head of a table stays on top of its rows."""
        pinned = self.pinned
        return [*pinned, *range(self.top + len(pinned), min(len(self.lines), self.top + self.rows))]

    def move(self, lines: int) -> bool:
        """Select the line `lines` further down. False when it was the last one already."""
        return self.go(self.selected + lines)

    def go(self, index: int, *, centre: bool = False) -> bool:
        """Select the line at `index`, near the middle of the window if it was out of sight and `centre`."""
        before = self.selected
        self.selected = min(max(0, index), max(0, len(self.lines) - 1))
        self._choose_link()
        if centre and not self.top <= self.selected < self.top + self.rows:
            self.top = self.selected - self.rows // 2
        self._settle()
        return self.selected != before

    def choose_at(self, column: int) -> None:
        """Choose the link at `column` of the selected line, if any; a table's row keeps that of what it is about."""
        links = self.links(self.selected)
        if self._subject(links) is None:
            self.link = next((at for at, link in enumerate(links) if link.start <= column < link.end), self.link)

    def scroll(self, lines: int) -> None:
        """Move the window; the selection follows only to stay in it."""
        self.top += lines
        self._clamp()
        low = self.top + len(self.pinned)
        self.selected = min(max(self.selected, low), min(len(self.lines), self.top + self.rows) - 1)
        self.selected = max(0, self.selected)
        self._choose_link()

    def page(self, pages: float) -> None:
        """Move window and selection by this part of the window, keeping one line of what was seen."""
        hidden = max(len(self.pinned), len(self._pinned_at(self.top + self.rows)))  # the rows of what stays
        whole = max(1, self.rows - 1 - hidden)
        step = int(whole * pages) or (1 if pages > 0 else -1)
        self.top += step
        self._clamp()
        self.go(self.selected + step)

    def sideways(self, step: int) -> bool:
        """Scroll by `step` columns, as far as the lines in the window reach."""
        before = self.left
        widest = max((columns(self.line(i).text) for i in self.visible()), default=0)
        furthest = max(0, widest - self.cols, before)
        self.left = min(max(0, before + step), furthest)
        return self.left != before

    def next_link(self, step: int) -> bool:
        """Choose the next link (`step` 1) or the one before (-1) in reading order. False: none within reach."""
        if self._step_in_line(step):
            return True
        index = self.selected
        for _ in range(LINK_REACH):
            index += step
            if not 0 <= index < len(self.lines):
                return False
            links = self.links(index)
            if links:
                self.go(index)
                self._choose(0 if step > 0 else len(links) - 1)
                return True
        return False

    def beside(self, step: int) -> bool:
        """Choose the next link to the right (`step` 1) or left (-1) on the selected line."""
        return self._step_in_line(step)

    def choose(self, line: int, link: int | None) -> None:
        """Select `line` and a link on it."""
        self.selected = min(max(0, line), max(0, len(self.lines) - 1))
        if link is None:
            self._choose_link()
        else:
            self._choose(link)
        self._settle()

    def find_element(self, index: tuple[int, ...]) -> int | None:
        """The line that shows the array element at `index`; None when no array here has so many dimensions.

        Lines of an array name their first element, in order, so the last one not behind `index` is it.
        """
        for part in self.parts:
            if not any(
                self._element(i, part) is not None for i in range(part.start, part.start + min(part.length, 5))
            ):
                continue
            keys = range(part.start, part.start + part.length)
            at = bisect.bisect_right(keys, index, key=lambda i: self._element(i, part) or ()) - 1
            if at < 0:
                continue
            line = keys[at]
            while line > part.start and self.line(line).element is None:
                line -= 1
            found = self.line(line).element
            if found is not None and len(found) == len(index):
                return line
        return None

    def _element(self, index: int, part: LaidOutBlock) -> tuple[int, ...] | None:
        """The element of the line, or of the nearest line above it in its block that has one."""
        for i in range(index, max(part.start, index - 50) - 1, -1):
            element = self.line(i).element
            if element is not None:
                return element
        return None

    def block_of(self, index: int) -> int | None:
        """The place of the block that the line at `index` belongs to; None above the first."""
        return self._layout.block_at(index)

    def _place(self, index: int) -> tuple[int, float, int, tuple[int, ...] | None]:
        """Where the line is apart from the width: block, offset, how long the block was, array element."""
        for number, part in enumerate(self.parts):
            if part.start <= index < part.start + part.length:
                return number, part.origins[index - part.start], part.unbroken, self.line(index).element
        return 0, 0, 0, None

    def _line_at(self, place: tuple[int, float, int, tuple[int, ...] | None]) -> int:
        number, offset, length, element = place
        if number >= len(self.parts):
            return 0
        part = self.parts[number]
        if part.unbroken != length and element is not None:
            found = self.find_element(element)
            if found is not None:
                return found
        if part.unbroken != length and length:
            offset = offset * part.unbroken / length
        return part.start + min(bisect.bisect_left(part.origins, int(offset)), max(0, part.length - 1))

    def _step_in_line(self, step: int) -> bool:
        links = self.links(self.selected)
        wanted = (self.link + step) if self.link is not None else -1
        if not 0 <= wanted < len(links):
            return False
        self._choose(wanted)
        self._settle()
        return True

    def _choose(self, link: int) -> None:
        self.link = link
        links = self.links(self.selected)
        self._goal = None if link == self._subject(links) else links[link].start
        if links[link].start < self.left or links[link].end > self.left + self.cols:
            self.left = max(0, min(links[link].start - 2, links[link].end - self.cols))
            if links[link].end - links[link].start > self.cols:
                self.left = links[link].start

    def _choose_link(self) -> None:
        """On the selected line choose the link nearest to the column kept to, or that of what the row is about."""
        links = self.links(self.selected)
        self.link = self._subject(links) if self._goal is None else None
        if self.link is None and links:
            goal = self._goal or 0
            self.link = min(range(len(links)), key=lambda i: abs(links[i].start - goal))

    def _subject(self, links: Sequence[LinkPlace]) -> int | None:
        """Which of the `links` on the selected line is that of what its row is about."""
        subject = self._layout.subject(self.selected)
        return next((at for at in reversed(range(len(links))) if links[at].link == subject), None)

    def _clamp(self) -> None:
        self.top = min(max(0, self.top), max(0, len(self.lines) - self.rows))

    def _settle(self) -> None:
        """Bring the selected line into the window, under the head that stays on top."""
        self._clamp()
        if self.selected >= self.top + self.rows:
            self.top = self.selected - self.rows + 1
        if self.selected < self.top:
            self.top = self.selected
        self._clamp()
        hidden = self.top + len(self.pinned) - self.selected
        if hidden > 0:
            self.top = max(0, self.top - hidden)


def _leads_on(link: LinkPlace) -> bool:
    return not link.heading and link.text != SHOW_ALL
