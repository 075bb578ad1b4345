"""Lines of a document as rows of a canvas: cut to the screen, coloured, with the columns of their links."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import urwid
from urwid.util import apply_target_encoding, get_encoding

from tfdbg_cli.document.text import Line, Style
from tfdbg_cli.tui.reading.encoding import shown_in
from tfdbg_cli.tui.reading.row_canvas import Charset, RowCanvas, Run

Range: TypeAlias = tuple[int, int]
Piece: TypeAlias = tuple[str, Hashable]  # a text and its look

_MORE_LEFT = "‹"
_MORE_RIGHT = "›"
_KEPT_LOOKS = 1 << 14  # pictures have a look for each two colours above one another
_LINK, _FOCUSED = "link", "link focus"  # palette names


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """A link on a line: the columns it takes, unscrolled, what it runs, and what stands there."""

    start: int
    end: int
    link: str
    text: str
    heading: bool = False

    @property
    def name(self) -> str:
        """The text; where the table cut it short, the whole of it from the command."""
        head, elided, tail = self.text.partition("…")
        if not elided:
            return self.text
        words = (word.strip("'\"") for word in self.link.split())
        return next((word for word in words if word.startswith(head) and word.endswith(tail)), self.text)


@dataclass(frozen=True, slots=True)
class ScreenRow:
    """One row of the screen, exactly as wide as asked for: encoded text in runs of one look each."""

    runs: tuple[Run, ...]

    @property
    def text(self) -> bytes:
        """What stands in it, encoded."""
        return b"".join(text for _, _, text in self.runs)


def columns(text: str) -> int:
    """Terminal columns of `text`, as urwid counts them."""
    return len(text) if text.isascii() else urwid.calc_width(text, 0, len(text))


def links_of(line: Line) -> list[LinkPlace]:
    """The links of `line`, from left to right."""
    found: list[LinkPlace] = []
    column = 0
    for span in line.spans:
        text = span.text
        width = columns(text)
        if span.link:
            found.append(LinkPlace(column, column + width, span.link, text, span.style is Style.HEADING))
        column += width
    return found


def link_at(links: Sequence[LinkPlace], column: int) -> tuple[int, LinkPlace] | None:
    """The link at the column, with its number on the line."""
    return next(((i, link) for i, link in enumerate(links) if link.start <= column < link.end), None)


class _Look(urwid.LayeredAttr):
    """A display attribute of which there is one object for each look: urwid finds it in its tables as that object."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


@lru_cache(maxsize=_KEPT_LOOKS)
def attribute(*layers: str) -> Hashable:
    """A display attribute of palette names, innermost first; empty names are left out."""
    return _layered(tuple(layer for layer in layers if layer))


@lru_cache(maxsize=_KEPT_LOOKS)
def _layered(layers: tuple[str, ...]) -> Hashable:
    return _Look(*layers, "screen")


def paint(
    line: Line,
    cols: int,
    *,
    base: str = "",
    left: int = 0,
    focus: int | None = None,
    matches: Iterable[Range] = (),
    follow: bool = True,
) -> ScreenRow:
    """Paint the columns `left` to `left + cols` of `line`.

    `base` is the palette name under the whole row. `focus` is the index of the link to show as chosen, `matches`
    are character ranges of `line.text` to show as found. Marks at the edges say that there is more.
    """
    pieces: Sequence[Piece] = _pieces(line, base, focus, sorted(matches), follow)
    total = columns(line.text)
    if left or total > cols:
        pieces = _in_window(pieces, left, cols, total, attribute(Style.DIM, base))
    return assemble(pieces, cols, attribute(base))


def _in_window(pieces: Sequence[Piece], left: int, cols: int, total: int, dim: Hashable) -> Sequence[Piece]:
    """The columns `left` to `left + cols` of `total`, with the marks that there is more."""
    cut = _cut(pieces, left, cols)
    if left and total and cols > 1:
        cut = [(_MORE_LEFT, dim), *_cut(cut, 1, cols - 1)]
    if total > left + cols and cols > 1:
        cut = [*_cut(cut, 0, cols - 1), (_MORE_RIGHT, dim)]
    return cut


def assemble(pieces: Sequence[Piece], cols: int, rest: Hashable) -> ScreenRow:
    """`pieces` side by side as one row, filled up to `cols` columns with blanks that look like `rest`."""
    blank = cols - columns("".join([text for text, _ in pieces]))
    encoding = get_encoding()
    runs: list[Run] = []
    held, look = "", rest
    for text, its in (*pieces, (" " * blank, rest)):
        if its is look:
            held += text
        else:
            runs += _runs(held, look, encoding)
            held, look = text, its
    return ScreenRow((*runs, *_runs(held, look, encoding)))


def _runs(text: str, look: Hashable, encoding: str) -> Sequence[Run]:
    """`text` as it goes to a terminal with this encoding, which is the one that urwid is set to."""
    if text.isascii():
        return ((look, None, text.encode("ascii")),) if text else ()
    return [(look, charset, encoded) for charset, encoded in _encoded(text, encoding)]


@lru_cache(maxsize=4096)
def _encoded(text: str, encoding: str) -> tuple[tuple[Charset, bytes], ...]:
    """The same in the character sets that it takes."""
    encoded, charsets = apply_target_encoding(shown_in(text, encoding))
    ends = list(itertools.accumulate(length for _, length in charsets))
    return tuple((cs, encoded[end - length : end]) for (cs, length), end in zip(charsets, ends, strict=True))


def cell(char: str, *part: str) -> ScreenRow:
    """One character in the look of `part`, palette names from the innermost."""
    return _cell(char, part, get_encoding())


@lru_cache(maxsize=1024)
def _cell(char: str, part: tuple[str, ...], _encoding: str) -> ScreenRow:
    return assemble([(char, attribute(*part))], 1, attribute())


def side_by_side(*parts: ScreenRow) -> ScreenRow:
    """Rows as one row."""
    return ScreenRow(tuple(itertools.chain.from_iterable([part.runs for part in parts])))


def canvas(rows: Sequence[ScreenRow], cols: int, cursor: tuple[int, int] | None = None) -> RowCanvas:
    """`rows` as a canvas of `cols` columns."""
    return RowCanvas([row.runs for row in rows], cols, cursor)


def _pieces(line: Line, base: str, focus: int | None, matches: Sequence[Range], follow: bool) -> list[Piece]:
    pieces: list[Piece] = []
    link = -1
    offset = 0
    for span in line.spans:
        text = span.text
        if span.link:
            link += 1
        role = _FOCUSED if span.link and link == focus else _LINK if span.link and follow else ""
        if not matches:
            pieces.append((text, _look(span.style, role, base)))
            continue
        for start, end, found in _split(len(text), offset, matches):
            pieces.append((text[start:end], _look(span.style, role, base, found)))
        offset += len(text)
    return pieces


@cache
def _look(style: Style, role: str, base: str, found: bool = False) -> Hashable:
    """The attribute of a text: what it means, what it is besides (a link, the chosen one), and what lies under it."""
    layers = (role, base) if role == _FOCUSED or (role and style is Style.NUMBER) else (style, role, base)
    return attribute(*[Style.MATCH] * found, *layers)


def _split(length: int, offset: int, matches: Sequence[Range]) -> list[tuple[int, int, bool]]:
    """The text of `length` at `offset` in its line, in parts that lie in a match or in none."""
    parts: list[tuple[int, int, bool]] = []
    done = 0
    for start, end in matches:
        start, end = max(start - offset, done), min(end - offset, length)
        if start >= end:
            continue
        if start > done:
            parts.append((done, start, False))
        parts.append((start, end, True))
        done = end
    if done < length:
        parts.append((done, length, False))
    return parts


def _cut(pieces: Sequence[Piece], left: int, cols: int) -> list[Piece]:
    """The columns `left` to `left + cols`; a wide character cut in half becomes a blank."""
    kept: list[Piece] = []
    column = 0
    for text, attr in pieces:
        width = columns(text)
        first, last = max(0, left - column), min(width, left + cols - column)
        column += width
        if first >= last:
            continue
        if first == 0 and last == width:
            kept.append((text, attr))
            continue
        begin, at = urwid.calc_text_pos(text, 0, len(text), first)
        ahead = ""
        if at < first:  # the left half of a wide character is cut off
            begin, at = urwid.calc_text_pos(text, 0, len(text), first + 1)
            ahead = " " * (at - first)
        end, reached = urwid.calc_text_pos(text, 0, len(text), last)
        kept.append((ahead + text[begin:end] + " " * (last - reached), attr))
    return kept
