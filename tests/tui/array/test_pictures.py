"""Ways to see many numbers at once. NaN and infinities are told apart from values in all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.plain_text import in_ascii
from tfdbg_cli.tui.array.health import RowHealth, examined, health_strips
from tfdbg_cli.tui.array.heatmap import heatmap
from tfdbg_cli.tui.array.histogram import counted, histogram
from tfdbg_cli.tui.array.levels import NAN, NEG_INF, POS_INF, RAMP, SIGNS, STEPS, character, scale_of
from tfdbg_cli.tui.array.line_plot import line_plot
from tfdbg_cli.tui.array.numbers import Corner
from tfdbg_cli.tui.array.picture import picture, pixels
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Surface

_SURFACES = [
    Surface(40, 8),
    Surface(80, 20, 16),
    Surface(80, 20, 256),
    Surface(120, 40, 2**24),
    Surface(60, 9, 256, False),
]


def _sick(height=12, width=9):
    array = np.linspace(-3, 5, height * width, dtype=np.float32).reshape(height, width)
    array[1, 2], array[3, 4], array[5, 6] = np.nan, np.inf, -np.inf
    return array


def _text(drawn):
    return ["".join(text for text, _ in row) for row in drawn.rows]


def _draw(way, array, surface):
    plane = Plane.of(array.shape)
    if way == "picture":
        return picture(array, plane, scale_of(array), surface)
    if way == "heatmap":
        return heatmap(array, plane, scale_of(array), Corner(), surface)[0]
    return line_plot(array, plane.at((0, 0)), surface)


@pytest.mark.parametrize("surface", _SURFACES)
@pytest.mark.parametrize("way", ["picture", "heatmap"])
def test_each_kind_of_number_that_is_none_has_a_sign_with_and_without_colours(way, surface) -> None:
    rows = _text(_draw(way, _sick(), surface))
    body = "\n".join(rows[:-1])
    for sign, _ in SIGNS.values():
        assert sign in body
        assert sign not in RAMP
    plain = "\n".join(_text(_draw(way, np.ones((12, 9), np.float32), surface))[:-1])
    assert not any(sign in plain for sign, _ in SIGNS.values())


@pytest.mark.parametrize("surface", _SURFACES)
@pytest.mark.parametrize("way", ["picture", "heatmap", "line"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (7, 3), (300, 600)])
def test_drawings_fit_and_their_cursor_is_in_them(way, surface, shape) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(np.float64)
    drawn = _draw(way, array, surface)
    assert len(drawn.rows) <= surface.rows
    assert all(display_width(row) <= surface.cols for row in _text(drawn))
    col, row = drawn.cursor
    assert 0 <= col < surface.cols
    assert 0 <= row < surface.rows


@pytest.mark.parametrize("surface", _SURFACES)
def test_where_no_number_is_finite_no_range_is_told(surface) -> None:
    array = np.full((3, 4), np.nan, np.float32)
    for way in ("picture", "heatmap"):
        assert "0 to 0" not in (told := "".join(_text(_draw(way, array, surface)))) and "no finite" in told
    assert "0" not in "".join(_text(_draw("line", array, surface))[:-1]), "no ends of an axis"


def test_steps_grow_with_the_numbers_and_the_largest_do_not_overflow() -> None:
    numbers = np.array([[-1.7e308, 0.0, 1.7e308, np.nan, np.inf, -np.inf]])
    levels = scale_of(numbers).levels(numbers).tolist()[0]
    assert levels == [0, STEPS // 2, STEPS - 1, NAN, POS_INF, NEG_INF]
    assert [character(level)[0] for level in levels[:3]] == [" ", "+", "@"]
    assert scale_of(np.full((2, 2), np.nan)).levels(np.full((2, 2), np.nan)).tolist() == [[NAN, NAN]] * 2
    assert scale_of(np.full((2, 2), np.nan)).words == "no finite number"


def test_a_terminal_without_colours_gets_no_half_blocks() -> None:
    assert "▀" not in "".join(_text(_draw("picture", _sick(), Surface(80, 20))))
    assert "▀" in "".join(_text(_draw("picture", _sick(), Surface(80, 20, 256))))


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 30), st.integers(1, 30), st.data())
def test_every_nan_of_a_plane_is_seen_in_its_picture(height, width, high, wide, data) -> None:
    array = np.zeros((height, width))
    row, col = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    array[row, col] = np.nan
    shown = pixels(array, high, wide)
    assert shown.height <= high
    assert shown.width <= wide
    assert np.isnan(shown.numbers).any()
    assert np.isnan(shown.numbers[shown.at(row, col)])


def test_sums_that_overflow_are_no_infinities() -> None:
    shown = pixels(np.full((4, 4), 1.7e308), 2, 2)
    assert np.isfinite(shown.numbers).all()


def test_a_large_plane_is_sampled_and_says_so() -> None:
    array = np.zeros((3000, 3000), np.float32)
    legend = _text(_draw("picture", array, Surface(120, 20)))[-1]
    assert "1 of " in legend
    assert "in a sample" in legend


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=200))
def test_a_histogram_counts_every_number_once(numbers) -> None:
    array = np.array([numbers], np.float32)
    counts = _answer(counted(array))
    assert sum(counts.parts) == int(np.isfinite(array).sum())
    assert (counts.nan, counts.pos_inf, counts.neg_inf) == (
        int(np.isnan(array).sum()), int(np.isposinf(array).sum()), int(np.isneginf(array).sum()),
    )  # fmt: skip
    rows = _text(histogram(counts, None, Surface(60, 12)))
    assert len(rows) <= 12
    shown = sum(int(row.split()[-1].replace(",", "")) for row in rows if "no finite" not in row)
    assert shown == array.size, "no part of it is left out"


def _answer(steps):
    while True:
        try:
            next(steps)
        except StopIteration as over:
            return over.value


def test_a_histogram_that_is_not_counted_says_why() -> None:
    assert "50% looked at" in _text(histogram(None, 0.5, Surface(60, 12)))[0]
    assert "stopped" in _text(histogram(None, None, Surface(60, 12)))[0]


def test_a_curve_goes_from_the_lowest_dot_to_the_highest_and_marks_what_is_none() -> None:
    array = np.array([np.linspace(0, 1, 200)])
    array[0, 150] = np.nan
    rows = _text(line_plot(array, Plane.of((1, 200)), Surface(83, 12)))
    assert rows[0].startswith("1 ")
    assert rows[9].startswith("0 ")
    assert rows[9][2] not in " \u2800"
    assert rows[0][82] not in " \u2800"
    assert rows[10].strip().startswith("^")
    assert rows[10][2 + 150 * 81 // 200] == "×"
    plain_rows = [in_ascii(row) for row in rows]
    assert "*" in plain_rows[0]
    assert "".join(plain_rows).isascii()


def test_a_line_of_one_number_has_one_label() -> None:
    rows = _text(line_plot(np.full((1, 200), 3.5), Plane.of((1, 200)), Surface(83, 12)))
    assert [row[:4].strip() for row in rows[:10]] == [*[""] * 5, "3.5", *[""] * 4]
    assert rows[5][4] != "\u2800"
    near = _text(line_plot(np.array([[0.693147, 0.693149]]), Plane.of((1, 2)), Surface(83, 12)))
    assert near[0].split(" ")[0] == "0.693149"
    assert near[9].split(" ")[0] == "0.693147"


def test_a_short_row_of_the_batch_has_a_sign_for_each_element() -> None:
    known: dict[int, RowHealth] = {}
    _answer(examined(np.array([[1, 0, np.nan]]), range(1), known.__setitem__))
    assert _text(health_strips(known, range(1), 0, Surface(80, 10)))[0].split()[1] == "·0×"


def test_the_health_of_each_row_tells_where_and_how_many() -> None:
    batch = np.ones((5, 4, 64), np.float32)
    batch[1, 0, 0] = np.nan
    batch[2, 3, 60:] = np.inf
    batch[3] = 0
    batch[4, 2] = -np.inf
    known: dict[int, RowHealth] = {}
    _answer(examined(batch, range(4), known.__setitem__))
    rows = _text(health_strips(known, range(5), 1, Surface(80, 10)))
    assert rows[0].split() == ["0", "·" * 32, "[1,", "1]"]
    assert rows[1].split()[1] == "×" + "·" * 31
    assert "NaN×1" in rows[1]
    assert rows[2].split()[1] == "·" * 31 + "↑"
    assert "+inf×4" in rows[2]
    assert rows[3].split()[1] == "0" * 32
    assert rows[4].split()[1] == "?" * 32, "what nobody counted is not called healthy"
