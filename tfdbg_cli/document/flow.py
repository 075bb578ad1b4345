"""Pieces with links behind a label, as many on a line as the screen has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.document.labels import LABEL_WIDTH, label_span
from tfdbg_cli.document.shrinking import shrunk
from tfdbg_cli.document.text import Line, Span, Style, line

Piece = tuple[Span, ...]


@dataclass(frozen=True)
class Flow:
    """`label` in a column of its own, and beside it `pieces`, each kept on one line; a line begins with no blank.

    Of a piece that is wider than the screen the names lose their start: what an op is stands at the end of its name.
    """

    label: str
    pieces: tuple[Piece, ...]
    label_width: int = LABEL_WIDTH

    def lines(self, width: int | None) -> Sequence[Line]:
        room = None if width is None else max(20, width - self.label_width)
        rows: list[list[Span]] = [[]]
        taken = 0
        for piece in self.pieces:
            size = sum(display_width(span.text) for span in piece)
            if room is not None and taken and taken + size > room:
                rows.append([])
                taken = 0
            shown = piece if rows[-1] else _without_blank(piece)
            if room is not None and size > room:
                shown = shrunk(shown, room, lambda span: span.style is Style.NAME)
            rows[-1] += shown
            taken += sum(display_width(span.text) for span in shown)
        head, blank = label_span(self.label, self.label_width), " " * self.label_width
        return [line(head if i == 0 else blank, *row) for i, row in enumerate(rows)]


def _without_blank(piece: Piece) -> Piece:
    return (replace(piece[0], text=piece[0].text.lstrip()), *piece[1:]) if piece else piece
