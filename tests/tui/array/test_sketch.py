"""Figures of a document drawn: read and counted in steps, without a cursor."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.document.figure import DrawingWay, Figure, LateValue
from tfdbg_cli.model.values import Lack, NoValue
from tfdbg_cli.tui.array.numbers import CURSOR
from tfdbg_cli.tui.array.sketch import Sketch
from tfdbg_cli.tui.array.surface import Surface

SURFACE = Surface(40, 8, 256)


def sketch(value, way):
    found = Sketch(Figure(LateValue(lambda: value), way, SURFACE.rows))
    assert found.running
    while found.running:
        found.work(lambda: True)
    return found


def text(value, way):
    return ["".join(text for text, _ in row) for row in sketch(value, way).rows(SURFACE)]


def test_nothing_is_read_before_it_is_asked_for():
    reads = []
    figure = Figure(LateValue(lambda: reads.append(1) or np.zeros(3)), DrawingWay.CELLS, 3)
    drawn = Sketch(figure)
    assert "…" in str(drawn.rows(SURFACE))
    assert not reads
    drawn.work(lambda: True)
    drawn.work(lambda: True)
    assert len(reads) == 1
    assert not drawn.running


def test_every_way_fits_its_surface_and_shows_no_cursor():
    for shape in ((5,), (40,), (20, 30), (3, 20, 30), (20, 30, 3), ()):
        array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
        for way in DrawingWay:
            if way is DrawingWay.CURVE and len(shape) != 1:
                continue
            rows = sketch(array, way).rows(SURFACE)
            assert 0 < len(rows) <= SURFACE.rows
            assert all(CURSOR not in look for row in rows for _, look in row)
            assert "^" not in str(rows)


def test_one_axis_lies_in_a_row():
    assert text(np.array([1.5, np.nan, 3.0]), DrawingWay.CELLS)[1].split() == ["0", "1.5", "nan", "3."]


def test_the_histogram_is_counted_in_steps():
    big = np.zeros(1 << 18, np.float32)
    drawn = Sketch(Figure(LateValue(lambda: big), DrawingWay.HISTOGRAM, 8))
    drawn.work(lambda: True)
    drawn.work(lambda: True)
    assert "counting" in str(drawn.rows(SURFACE))
    assert "262,144" in "".join(text(big, DrawingWay.HISTOGRAM))


def test_what_cannot_be_drawn_is_said_once():
    lost = NoValue(Lack.GONE, "The bytes are gone.")
    assert text(lost, DrawingWay.CELLS) == ["The bytes are gone."]
    assert text(lost, DrawingWay.HISTOGRAM) == []
    words = np.array([b"one", b"two"], object)
    assert "one" in text(words, DrawingWay.CELLS)[1]
    assert text(words, DrawingWay.HISTOGRAM) == []
    assert text(np.zeros((0, 3)), DrawingWay.PICTURE) == []


def test_the_cells_are_those_around_the_first_bad_element_and_say_where_they_are():
    array = np.zeros((50, 30, 40), np.float32)
    array[37, 21, 33] = np.nan
    rows = text(array, DrawingWay.CELLS)
    assert rows[0].startswith("[37, :, :]")
    assert any("nan" in row for row in rows)
    fine = text(np.zeros((50, 30, 40), np.float32), DrawingWay.CELLS)
    assert fine[0].startswith("[0, :, :]")
