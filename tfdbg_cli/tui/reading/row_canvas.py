"""Rows of the screen as urwid takes them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import urwid

Charset: TypeAlias = Literal["0", "U"] | None
Run: TypeAlias = tuple[Hashable, Charset, bytes]  # the look of a piece, the character set it is sent in, its bytes
Row: TypeAlias = Sequence[Run]


class RowCanvas(urwid.Canvas):
    """Rows that are `cols` wide, in runs that are as the terminal gets them.

    urwid.TextCanvas is given texts, looks and character sets apart, measures each row and joins the three anew for
    every frame: on a screen of 200 by 60 that was half of what a key took. Here they were made together, once.
    """

    def __init__(self, rows: Sequence[Row], cols: int, cursor: tuple[int, int] | None = None) -> None:
        super().__init__()
        self._rows = rows
        self._cols = cols
        self.cursor = cursor

    def cols(self) -> int:
        """Columns of each row."""
        return self._cols

    def rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def looks_as(self, other: RowCanvas) -> bool:
        """Whether nothing on the screen would change if `other` came in its place."""
        return (self._cols, self.cursor, self._rows) == (other._cols, other.cursor, other._rows)

    def content(
        self,
        trim_left: int = 0,
        trim_top: int = 0,
        cols: int = 0,
        rows: int = 0,
        attr: Mapping[Hashable, Hashable] | None = None,
    ) -> Iterator[list[Run]]:
        """The rows, or a rectangle of them (0 columns or rows: all that are left), their looks replaced by `attr`."""
        within = self._rows[trim_top : trim_top + rows if rows else None]
        width = cols or self._cols - trim_left
        if trim_left or width < self._cols:
            yield from _text_canvas(within, self._cols).content(trim_left, 0, width, 0, attr)
            return
        for row in within:
            yield [(attr.get(look, look), cs, text) for look, cs, text in row] if attr else list(row)


def _text_canvas(rows: Sequence[Row], cols: int) -> urwid.TextCanvas:
    """The same as a canvas that can be cut between columns, through characters that take two of them."""
    return urwid.TextCanvas(
        [b"".join(text for _, _, text in row) for row in rows],
        [[(look, len(text)) for look, _, text in row] for row in rows],
        [[(cs, len(text)) for _, cs, text in row] for row in rows],
        maxcol=cols,
    )
