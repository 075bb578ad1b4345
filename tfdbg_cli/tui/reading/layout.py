"""A document laid out for a window of some width: which lines it has there, and which block each belongs to."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.document.document import ChainedLines, Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.table import Table
from tfdbg_cli.document.text import Line
from tfdbg_cli.tui.reading.wrap import is_prose, wrap

_WRAPPED_LINES = 20_000  # a longer text is scrolled sideways instead of broken into rows


@dataclass(frozen=True, slots=True)
class LaidOutBlock:
    """A block of the document in its present layout: its first line, its `lines`, whether the first one is a head.

    `origins` gives for each line the line of the block it comes from, where long lines were broken.
    """

    start: int
    lines: Sequence[Line]
    headed: bool
    origins: Sequence[int]

    @property
    def length(self) -> int:
        """How many lines it has."""
        return len(self.lines)

    @property
    def unbroken(self) -> int:
        """The lines of the block before any was broken."""
        return self.origins[-1] + 1 if len(self.origins) else 0


class DocumentLayout:
    """The lines of `document` in a window of `cols` columns, counted from 0, and which of them are each block.

    With 0 columns it is not laid out yet, and has no lines.
    """

    def __init__(self, document: Document, cols: int) -> None:
        self._document = document
        laid_out: list[Sequence[Line]] = []
        self.parts: list[LaidOutBlock] = []
        start = 0
        for block in document.blocks:
            lines: Sequence[Line] = block.lines(cols) if cols else ()
            origins: Sequence[int] = range(len(lines))
            if isinstance(block, Text) and len(lines) <= _WRAPPED_LINES:
                lines, origins = _wrapped(lines, cols)
            laid_out.append(lines)
            headed = bool(cols) and isinstance(block, Table) and block.show_head
            self.parts.append(LaidOutBlock(start, lines, headed, origins))
            start += len(lines)
        self.lines: Sequence[Line] = ChainedLines(laid_out)

    def line_of(self, index: int) -> int:
        """The line that the document's line `index`, counted before any was broken, stands at."""
        for part in self.parts:
            if index < part.unbroken:
                return part.start + bisect.bisect_left(part.origins, max(0, index))
            index -= part.unbroken
        return max(0, len(self.lines) - 1)

    def rows(self, start: int, end: int) -> Iterator[tuple[int, Table | Rows, int]]:
        """The lines from `start` to before `end` that are rows: each with its block and the row there."""
        for part, block in zip(self.parts, self._document.blocks, strict=True):
            if isinstance(block, Table | Rows):
                first = part.start + part.headed
                for line in range(max(first, start), min(part.start + part.length, end)):
                    yield line, block, line - first

    def block_at(self, index: int) -> int | None:
        """The place of the block that the line at `index` belongs to; None above the first."""
        at = bisect.bisect_right([part.start for part in self.parts], index) - 1
        while at >= 0 and not self.parts[at].length:
            at -= 1
        return at if at >= 0 else None

    def part_at(self, index: int) -> LaidOutBlock | None:
        """The part that the line at `index` belongs to; None above the first."""
        at = self.block_at(index)
        return None if at is None else self.parts[at]

    def heads(self, index: int) -> list[str]:
        """What the heads of the table at the line `index` run, or of the first one; also of columns left out."""
        tables = [at for at, part in enumerate(self.parts) if part.headed]
        if not tables:
            return []
        here = self.part_at(index)
        block = self._document.blocks[next((at for at in tables if self.parts[at] is here), tables[0])]
        assert isinstance(block, Table)
        return [column.link for column in block.columns if column.link]

    def subject(self, index: int) -> str | None:
        """The link that tells what the row at the line `index` is about; None where that is no row of a table."""
        for part, block in zip(self.parts, self._document.blocks, strict=True):
            row = index - part.start - part.headed
            if isinstance(block, Table) and 0 <= row < part.length - part.headed:
                return block.subject_link(row)
        return None


def _wrapped(lines: Sequence[Line], cols: int) -> tuple[Sequence[Line], Sequence[int]]:
    """Prose in `lines` broken into rows that fit, and for each row the line it comes from."""
    rows: list[Line] = []
    origins: list[int] = []
    for index, content in enumerate(lines):
        broken = wrap(content, cols) if is_prose(content) else [content]
        rows += broken
        origins += [index] * len(broken)
    return rows, origins
