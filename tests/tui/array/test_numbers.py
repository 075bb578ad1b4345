"""The grid of numbers: each word is the element that its indices say, in NumPy's format."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.document.text import Style
from tfdbg_cli.tui.array.number_style import NumberStyle
from tfdbg_cli.tui.array.numbers import CURSOR, Corner, grid
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Surface


def _text(row):
    return "".join(text for text, _ in row)


@settings(deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(10, 90),
    st.integers(3, 20),
    st.data(),
    st.sampled_from([None, 9]),
)
def test_each_word_is_the_element_that_its_indices_say(height, width, cols, rows, data, threshold) -> None:
    array = (np.arange(height * width).reshape(height, width) * 7919 % 99991).astype(np.int64)
    style = NumberStyle(threshold=threshold)
    corner = Corner()
    for _ in range(3):
        plane = Plane.of(array.shape).at(
            (data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1)))
        )
        drawn, corner = grid(array, plane, style, corner, Surface(cols, rows))
        texts = [_text(row) for row in drawn.rows]
        assert len(texts) <= rows
        assert all(display_width(text) <= cols for text in texts)
        columns = texts[0].split()
        for text in texts[1:]:
            index, *words = text.split()
            for column, word in zip(columns, words, strict=True):
                if "…" not in (index, column):
                    assert word == str(array[int(index), int(column)])
        hidden = threshold and height * width > 9 and not (_kept(plane.row, height) and _kept(plane.col, width))
        assert (drawn.cursor is None) == bool(hidden)
        if drawn.cursor:
            col, row = drawn.cursor
            assert drawn.cells.at(col, row) == (plane.row, plane.col)
            assert CURSOR in {name for _, look in drawn.rows[row] for name in look}


def _kept(place, length):
    return length <= 6 or place < 3 or place >= length - 3


@pytest.mark.parametrize(
    ("style", "word"),
    [
        (NumberStyle(), "1234.5678"),
        (NumberStyle(precision=2), "1234.57"),
        (NumberStyle(precision=2, scientific=True), "1.23e+03"),
        (NumberStyle().finer(-6), "1234.57"),
    ],
)
def test_numbers_are_written_as_numpy_would(style, word) -> None:
    assert [found.strip() for found in style.written(np.array([1234.5678]))] == [word]


def test_small_numbers_have_exponents_unless_suppressed() -> None:
    numbers = np.array([1e-7, 1.0])
    assert NumberStyle().written(numbers) == ["1.e-07", "1.e+00"]
    assert NumberStyle(suppress=True).written(numbers) == ["0.0000001", "1.       "]


def test_minus_zero_and_repeated_numbers_keep_their_sign() -> None:
    assert NumberStyle().written(np.array([0.0, -0.0, 0.0, np.nan], np.float32)) == [" 0.", "-0.", " 0.", "nan"]


def test_the_programs_own_options_are_followed_and_stay() -> None:
    with np.printoptions(precision=1):
        before = np.get_printoptions()
        assert NumberStyle().written(np.array([1.25])) == ["1.2"]
        assert NumberStyle().finer(1).written(np.array([1.25])) == ["1.25"]
        assert np.get_printoptions() == before


def test_texts_and_bytes_are_safe_and_short() -> None:
    items = np.array([[b"a\x1b[31mred", b"\xff\xfe"], ["x" * 1000, "中" * 40]], object)
    drawn, _ = grid(items, Plane.of((2, 2)), NumberStyle(), Corner(), Surface(80, 10))
    shown = "\n".join(map(_text, drawn.rows))
    assert "\x1b" not in shown
    assert r"'a\x1b[31mred'" in shown
    assert r"b'\xff\xfe'" in shown
    assert all(display_width(_text(row)) <= 80 for row in drawn.rows)
    assert "…" in shown


def test_what_is_not_finite_has_a_look_of_its_own() -> None:
    array = np.array([[1, np.nan, np.inf]], np.float32)
    drawn, _ = grid(array, Plane.of((1, 3)), NumberStyle(), Corner(), Surface(80, 10))
    assert {(text, look) for text, look in drawn.rows[1] if text in {"nan", "inf"}} == {
        ("nan", (Style.NAN,)),
        ("inf", (Style.INF,)),
    }
