"""A value drawn in the figures of a document: read and counted beside the screen, drawn once for each size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tfdbg_cli.document.array_words import is_text
from tfdbg_cli.document.figure import DrawingWay, Figure
from tfdbg_cli.document.text import Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.array.condition import nonfinite
from tfdbg_cli.tui.array.histogram import Counts, counted, histogram
from tfdbg_cli.tui.array.levels import scale_of
from tfdbg_cli.tui.array.line_plot import HERE, line_plot
from tfdbg_cli.tui.array.number_style import NumberStyle
from tfdbg_cli.tui.array.numbers import CURSOR, Corner, grid
from tfdbg_cli.tui.array.picture import picture
from tfdbg_cli.tui.array.plane import Index, Plane
from tfdbg_cli.tui.array.scan import Scan
from tfdbg_cli.tui.array.surface import Drawn, Row, Run, Surface, fitted

_COLOURS = frozenset({1, 3, 4})  # lengths of a last axis that are colours rather than columns
_QUIET: dict[str, str] = {CURSOR: Style.PLAIN, Style.TITLE: Style.DIM}  # looks in the place of those of a cursor
_MOST_SEARCHED = 1 << 18  # elements that are looked through between two keys
_MANY = 1 << 20  # more steps than a slice of time has


class Sketch:
    """One figure as it is drawn."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._counted: list[Counts] = []  # the one there is, once it is known
        self._counting: Scan[Counts] | None = None
        self._drawn: tuple[Surface, list[Row]] | None = None
        self._reading: Iterator[float | None] | None = None
        self._lost = ""  # why the value cannot be had

    @property
    def running(self) -> bool:
        """Whether the value is still to be read, or to be counted."""
        value = self._figure.value.known
        if value is None:
            return not self._lost
        return not self._counted and self._figure.way is DrawingWay.HISTOGRAM and _countable(value)

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on reading and counting until it is `enough`."""
        if not self._read(enough):
            return
        value = self._figure.value.known
        if not self.running or isinstance(value, NoValue) or value is None:
            return
        if self._counting is None:
            self._counting = Scan(counted(value), self._counted.append)
        self._counting.work(_MANY, enough)

    def _read(self, enough: Callable[[], bool]) -> bool:
        """Go on until the value is there, or cannot be had; False where it was `enough` before."""
        if self._figure.value.known is not None:
            return True
        if self._reading is None:
            self._reading = in_steps(self._value_read)
        try:
            for _ in self._reading:
                if enough():
                    return False
        except TfdbgError as error:
            self._lost = error.message
        self._reading = None
        return True

    def _value_read(self) -> Iterator[None]:
        self._figure.value.read()
        yield

    def rows(self, surface: Surface) -> list[Row]:
        """The figure on `surface`."""
        if self.running:
            return self._draw(surface)
        if self._drawn is None or self._drawn[0] != surface:
            self._drawn = surface, self._draw(surface)
        return self._drawn[1]

    def _draw(self, surface: Surface) -> list[Row]:
        value, way = self._figure.value.known, self._figure.way
        if value is None and not self._lost:
            return [[("…", (Style.DIM,))]]
        if value is None or isinstance(value, NoValue):
            text = self._lost if value is None else value.text
            return (
                [] if way is DrawingWay.HISTOGRAM else [fitted([(printable(text), (Style.WARNING,))], surface.cols)]
            )
        if not value.size:
            return []
        if way is DrawingWay.HISTOGRAM:
            share = self._counting.share if self._counting is not None else 0.0
            return histogram(next(iter(self._counted), None), share, surface).rows if _countable(value) else []
        shown = _WAYS.get(way, _cells) if not is_text(value) else _cells
        return shown(value, surface).rows


def _countable(value: Any) -> bool:
    return not isinstance(value, NoValue) and value.size > 0 and not is_text(value)


def _plane(array: Array) -> Plane:
    """What is drawn of an array: the part with its first bad element; one of a single axis lies in a row."""
    plane = Plane.of(array.shape).at(_worth_seeing(array))
    return plane.swapped() if array.ndim == 1 else plane


def _worth_seeing(array: Array) -> Index:
    """The first element that is NaN or infinite, where the array is small enough to look for it; else the first."""
    if array.size <= _MOST_SEARCHED and not is_text(array):
        bad = nonfinite(array).reshape(-1)
        at = int(bad.argmax())
        if bad[at]:
            return tuple(map(int, np.unravel_index(at, array.shape)))
    return (0,) * array.ndim


def _picture(array: Array, surface: Surface) -> Drawn:
    plane = _plane(array)
    if array.ndim > 2 and array.shape[-1] in _COLOURS:
        plane = plane.showing(array.ndim - 3, array.ndim - 2)
    return _beside_where(plane, surface, lambda rest: picture(array, plane, scale_of(plane.elements(array)), rest))


def _cells(array: Array, surface: Surface) -> Drawn:
    """Some elements; nothing shows where a cursor would be."""
    plane = _plane(array)
    return _beside_where(plane, surface, lambda rest: grid(array, plane, NumberStyle(), Corner(), rest)[0])


def _beside_where(plane: Plane, surface: Surface, draw: Callable[[Surface], Drawn]) -> Drawn:
    """What `draw` makes of the room, below a row that says which part of the array it is, if it is not all of it."""
    if not plane.frozen or surface.rows < 2:
        return _quiet(draw(surface))
    where = fitted([(plane.where, (Style.DIM,))], surface.cols)
    drawn = _quiet(draw(replace(surface, rows=surface.rows - 1)))
    return Drawn([where, *drawn.rows], drawn.cursor)


def _curve(array: Array, surface: Surface) -> Drawn:
    return _quiet(line_plot(array, _plane(array), surface))


def _quiet(drawn: Drawn) -> Drawn:
    """The drawing without its cursor."""
    return Drawn([[_run(*run) for run in row] for row in drawn.rows])


def _run(text: str, look: tuple[str, ...]) -> Run:
    shown = " " if text == HERE and CURSOR in look else text
    return shown, tuple(_QUIET.get(name, name) for name in look)


_WAYS = {DrawingWay.PICTURE: _picture, DrawingWay.CURVE: _curve}
