"""The elements of a plane as a grid of words under their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.array_words import is_text
from tfdbg_cli.document.cells import clip, display_width, pad
from tfdbg_cli.document.text import Style
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import sampled
from tfdbg_cli.tui.array.number_style import NumberStyle
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import CellGrid, Drawn, Row, Surface, joined
from tfdbg_cli.tui.array.track import Track, window

CURSOR = "link focus"  # the look of the cell with the cursor, which every theme shows without colours too
_GAP = "…"
_SAMPLE = 64  # elements of the plane that are written with those in sight, so that scrolling keeps the format


@dataclass(frozen=True, slots=True)
class Corner:
    """The slots of the first row and the first column in sight, and how many columns fitted when it was drawn."""

    top: int = 0
    left: int = 0
    fitted: int = 8


def tracks(plane: Plane, style: NumberStyle) -> tuple[Track, Track]:
    """The rows and the columns of `plane` as `style` shows them."""
    edge = style.edge(plane.height * plane.width)
    return Track(plane.height, edge), Track(plane.width, edge)


def grid(array: Array, plane: Plane, style: NumberStyle, corner: Corner, surface: Surface) -> tuple[Drawn, Corner]:
    """The part of `plane` around its cursor that fits, and which corner that is: `corner` where that will do.

    Only what is in sight is read and written.
    """
    rows, columns = tracks(plane, style)
    head = max(3, len(str(plane.height - 1)) + 1)
    high = max(1, surface.rows - 1)
    top = window(corner.top, rows.slot(plane.row), high, rows.count)
    down = [rows.place(slot) for slot in range(top, min(rows.count, top + high))]
    sheet = _Sheet(plane.elements(array), style, down)
    left, across, words = _fitting(sheet, columns, corner, columns.slot(plane.col), surface.cols - head)
    drawn = [_ruler(across, plane.col, head, words.width)]
    cursor = None
    for number, place in enumerate(down):
        here = across.index(plane.col) if place == plane.row and plane.col in across else None
        if here is not None:
            blanks = words.width - len(words.rows[number][here].lstrip())
            cursor = head + here * (words.width + 1) + 1 + blanks, len(drawn)
        index = _GAP if place is None else str(place)
        look = Style.TITLE if place == plane.row else Style.DIM
        drawn.append(joined([(f"{index:>{head - 1}} ", (look,)), *words.row(number, here)]))
    shown = CellGrid(head, 1, words.width + 1, down, across)
    return Drawn(drawn, cursor, shown), Corner(top, left, len(across))


def _ruler(across: Sequence[int | None], at: int, head: int, width: int) -> Row:
    """The indices of the columns, that of the cursor among them."""
    runs: Row = [(" " * head, (Style.DIM,))]
    for place in across:
        word = clip(_GAP if place is None else str(place), width)
        runs.append((f" {pad(word, width)}{word}", (Style.TITLE if place == at else Style.DIM,)))
    return joined(runs)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of some rows, each of `width` columns; `looks` are those of words that are no plain numbers."""

    rows: list[list[str]]
    looks: dict[tuple[int, int], Style]
    width: int

    def row(self, number: int, here: int | None) -> Row:
        """The words of one row from left to right, a blank before each; the cursor is on the one at `here`."""
        runs: Row = []
        for at, word in enumerate(self.rows[number]):
            style = self.looks.get((number, at), Style.NUMBER)
            if at != here and style is Style.NUMBER:  # one run with its neighbours: most words are such
                runs.append((f" {word}", (style,)))
                continue
            shown = word.strip()  # words are padded so that their points stand below one another
            before = len(word) - len(word.lstrip())
            runs += [(" " + word[:before], ()), (shown, (style, CURSOR) if at == here else (style,))]
            runs.append((word[before + len(shown) :], ()))
        return runs


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Some rows of a plane, the gap among them as None, to be written in one style."""

    elements: Array
    style: NumberStyle
    rows: list[int | None]

    def words(self, columns: list[int | None], room: int) -> _Words:
        """What stands in `columns` of the rows, in words that `room` has a place for one of."""
        places, others = _known(self.rows), _known(columns)
        part = self.elements[np.ix_(places, others)].reshape(-1)
        looks: dict[int, Style] = {}
        if is_text(part):
            found = self.style.written(part)
            looks = dict.fromkeys(range(len(found)), Style.STRING)
        else:
            anchors = sampled(self.elements, _SAMPLE).reshape(-1)
            found = self.style.written(np.concatenate([part, anchors]))[: len(part)]
            if is_inexact(part.dtype):
                odd = np.flatnonzero(~np.isfinite(part)).tolist()
                looks = {at: Style.NAN if np.isnan(part[at]) else Style.INF for at in odd}
        index = max((len(str(place)) for place in others), default=1)
        width = min(max(index, max(map(display_width, set(found)), default=1)), max(1, room - 1))
        fitted = {word: f"{pad(clip(word, width), width)}{clip(word, width)}" for word in set(found)}
        gap = " " * (width - 1) + _GAP
        rows: list[list[str]] = []
        styled: dict[tuple[int, int], Style] = {}
        waiting = iter(enumerate(found))
        for place in self.rows:
            row: list[str] = []
            for other in columns:
                if place is None or other is None:
                    styled[len(rows), len(row)] = Style.DIM
                    row.append(gap)
                    continue
                at, word = next(waiting)
                if at in looks:
                    styled[len(rows), len(row)] = looks[at]
                row.append(fitted[word])
            rows.append(row)
        return _Words(rows, styled, width)


def _known(places: list[int | None]) -> list[int]:
    return [place for place in places if place is not None]


def _fitting(
    sheet: _Sheet, columns: Track, corner: Corner, at: int, room: int
) -> tuple[int, list[int | None], _Words]:
    """The first slot of as many columns as fit into `room`, the one at slot `at` among them; these columns; words.

    How many fit follows from how wide their words are: as many are tried as fitted before.
    """
    tried = min(max(1, corner.fitted), columns.count)
    fewer = False
    while True:
        left = window(corner.left, at, tried, columns.count)
        across = [columns.place(slot) for slot in range(left, min(columns.count, left + tried))]
        words = sheet.words(across, room)
        fitting = min(columns.count, max(1, room // (words.width + 1)))
        if fitting == tried or (fitting > tried and fewer):  # the words of fewer columns may be shorter again
            return left, across, words
        fewer = fewer or fitting < tried
        tried = fitting
