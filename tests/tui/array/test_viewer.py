"""One array looked at: jumps go on beside the screen and can be stopped, and no key needs the whole array."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.work import CountedArray, counted_memory

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.array.chunks import STEP
from tfdbg_cli.tui.array.jumps import AT_ONCE
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Surface
from tfdbg_cli.tui.array.viewer import Viewer, ViewMode

_SCREEN = Surface(80, 18)


def _viewer(array, name="x:0"):
    return Viewer(array, name, 2000)


def _sick():
    array = np.zeros((4, 20, 6, 3), np.float32)
    array[3, 17, 4, 0] = np.nan
    return array


def test_the_ends_of_the_health_of_a_batch_are_those_of_the_batch() -> None:
    viewer = _viewer(_sick())
    viewer.show(ViewMode.HEALTH)
    for down in (True, False):
        assert viewer.end(down, True) and viewer.here == (3, 0, 0, 0) and viewer.position == "3/4"
        assert not viewer.end(down, True)
        assert viewer.end(down, False) and viewer.here == (0, 0, 0, 0) and viewer.position == "0/4"
    viewer.show(ViewMode.NUMBERS)
    assert viewer.end(True, True) and viewer.end(False, True) and viewer.position == "5/6, 2/3"


def test_a_jump_shows_the_element_wherever_it_is() -> None:
    viewer = _viewer(_sick())
    viewer.jumps.to_nonfinite(ahead=True)
    assert viewer.here == (3, 17, 4, 0)
    assert viewer.status == "[3, 17, 4, 0]  nan  · next NaN or infinity"
    assert any(text == "nan" for row in viewer.draw(_SCREEN).rows for text, _ in row)
    viewer.jumps.to_nonfinite(ahead=True)
    assert "the only one" in viewer.status
    viewer.jumps.to_extreme(highest=True)
    assert viewer.here == (3, 17, 4, 1)


def test_where_there_is_none_the_cursor_stays_and_it_is_said() -> None:
    viewer = _viewer(np.zeros((3, 4)))
    viewer.plane = viewer.plane.at((1, 2))
    viewer.jumps.to_nonfinite(ahead=True)
    assert viewer.here == (1, 2)
    assert viewer.jumps.failed
    assert "there is none" in viewer.status


def test_a_long_jump_goes_on_in_steps_and_can_be_stopped() -> None:
    array = np.zeros(3_000_000, np.uint8).astype(np.float16)
    array[-5] = np.inf
    viewer = _viewer(array)
    viewer.jumps.to_nonfinite(ahead=True)
    assert viewer.jumps.running
    assert "% looked at, Ctrl-C stops" in viewer.status
    viewer.jumps.halt()
    assert not viewer.jumps.running
    assert "stopped" in viewer.status
    assert viewer.here == (0,)
    viewer.jumps.to_nonfinite(ahead=True)
    while viewer.jumps.running:
        viewer.jumps.work(1)
    assert viewer.here == (2_999_995,)


def test_a_search_begins_where_the_person_was_and_comes_back() -> None:
    viewer = _viewer(np.arange(24.0).reshape(4, 6))
    viewer.go((1, 0))
    viewer.jumps.begin()
    for text in ("1", "11", "1", ">7", ">1"):
        viewer.jumps.look_for(text)
    assert viewer.here == (1, 0), "the element with the cursor counts, too"
    viewer.jumps.next()
    assert viewer.here == (1, 1)
    viewer.jumps.previous()
    viewer.jumps.previous()
    assert viewer.here == (0, 5)
    viewer.jumps.cancel()
    assert viewer.here == (1, 0)
    assert not viewer.jumps.active
    with pytest.raises(TfdbgError):
        viewer.jumps.look_for("loss")


def test_only_the_ends_are_shown_until_a_jump_goes_between_them() -> None:
    array = np.zeros((100, 100), np.float32)
    array[50, 50] = np.nan
    viewer = _viewer(array)
    viewer.shorten()
    rows = viewer.draw(_SCREEN).rows
    assert len(rows) == 1 + 1 + 7
    viewer.move(3, 0)
    assert viewer.here == (97, 0), "the gap is stepped over"
    viewer.jumps.to_nonfinite(ahead=True)
    assert viewer.here == (50, 50)
    assert viewer.style.threshold is None
    assert viewer.draw(_SCREEN).cursor is not None


def test_texts_are_shown_and_not_drawn() -> None:
    viewer = _viewer(np.array([[b"a\x1b]0;b", b"\xff"]], object))
    assert viewer.status == r"[0, 0]  'a\x1b]0;b'"
    for mode in set(ViewMode) - {ViewMode.NUMBERS}:
        with pytest.raises(TfdbgError, match="no numbers to draw"):
            viewer.show(mode)
    with pytest.raises(TfdbgError, match="no greatest"):
        viewer.jumps.to_extreme(highest=True)


def test_a_picture_of_channels_shows_height_and_width() -> None:
    viewer = _viewer(np.zeros((2, 8, 9, 3)))
    viewer.show(ViewMode.PICTURE)
    assert viewer.plane.where == "[0, :, :, 0]  axis 3 0/3"


def test_another_array_of_the_same_shape_is_looked_at_in_the_same_way() -> None:
    viewer, other = _viewer(_sick()), _viewer(_sick() + 1)
    viewer.jumps.to_nonfinite(ahead=True)
    viewer.show(ViewMode.HEATMAP)
    other.resembles(viewer)
    assert other.here == viewer.here
    assert other.mode is ViewMode.HEATMAP
    third = _viewer(np.zeros(3))
    third.resembles(viewer)
    assert third.here == (0,)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint64", "float16", "float64", "complex64", "longdouble", ml_dtypes.bfloat16,
     ml_dtypes.float8_e5m2, ml_dtypes.int4],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize("mode", ViewMode)
def test_every_type_is_looked_at_in_every_way(dtype, shape, mode) -> None:
    viewer = _viewer(np.ones(shape, dtype))
    viewer.show(mode)
    drawn = viewer.draw(_SCREEN)
    while viewer.jumps.running:
        viewer.jumps.work()
    drawn = viewer.draw(_SCREEN)
    assert 2 <= len(drawn.rows) <= _SCREEN.rows
    assert all(display_width("".join(text for text, _ in row)) <= _SCREEN.cols for row in drawn.rows)
    assert viewer.status.startswith(str([0] * len(shape)))


_STEPS = st.lists(
    st.sampled_from(["j", "k", "l", "h", "page", "back", "step", "swap", "turn", "end", "first", "short", *ViewMode]),
    max_size=15,
)


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), max_size=4).map(tuple), _STEPS, st.sampled_from([(40, 5), (80, 18), (33, 2)]))
def test_whatever_is_pressed_the_cursor_is_in_the_array_and_on_the_screen(shape, steps, size) -> None:
    viewer = _viewer(np.arange(np.prod(shape, dtype=int)).reshape(shape))
    viewer._threshold = 8
    moves = {"j": (1, 0), "k": (-1, 0), "l": (0, 1), "h": (0, -1)}
    turns = {"step": lambda p: p.step(1), "swap": Plane.swapped, "turn": Plane.turned,
             "end": lambda p: p.along(p.down, 99), "first": lambda p: p.along(p.across, 0)}  # fmt: skip
    for step in steps:
        if isinstance(step, ViewMode):
            viewer.show(step)
        elif step in moves:
            viewer.move(*moves[step])
        elif step in turns:
            viewer.turn(turns[step])
        elif step == "short":
            viewer.shorten()
        else:
            viewer.page(1 if step == "page" else -0.5)
        drawn = viewer.draw(Surface(*size, colors=256))
        assert all(0 <= at < length for at, length in zip(viewer.here, shape, strict=True))
        assert len(drawn.rows) <= max(2, size[1])
        if drawn.cursor is not None:
            assert 0 <= drawn.cursor[0] < size[0]
            assert 0 <= drawn.cursor[1] < max(3, size[1])


def test_an_element_is_told_as_exactly_as_its_type_has_it() -> None:
    with np.printoptions(precision=2, suppress=True):
        assert _viewer(np.array([[1 / 3]])).element == "0.3333333333333333"
        assert _viewer(np.array([[1e-30]], np.float32)).element == "1.e-30"


@pytest.mark.parametrize("size", [(80, 18), (200, 55)])
@pytest.mark.parametrize("colors", [1, 2**24])
def test_a_key_reads_little_of_a_thousand_million_elements(size, colors) -> None:
    """What a key reads is bound by the screen and the part on show, never by the whole array."""
    viewer = _viewer(np.zeros((1000, 1000, 1000), np.uint8).view(CountedArray))
    surface = Surface(*size, colors=colors)
    for mode in ViewMode:
        viewer.show(mode)
        viewer.draw(surface)
        # Four looks at what is on show, and a whole row for a line; what counts all goes some steps at a key.
        most = AT_ONCE * STEP if mode in {ViewMode.HISTOGRAM, ViewMode.HEALTH} else 4 * size[0] * size[1] + 1000
        for _ in range(3):
            before = CountedArray.read
            with counted_memory() as work:
                viewer.move(1, 1)
                viewer.turn(lambda plane: plane.step(1))
                viewer.draw(surface)
            viewer.jumps.halt()
            viewer.jumps.halted = False
            assert CountedArray.read - before <= most, mode
            assert work.peak < 64 * STEP, mode
    for jump in (lambda: viewer.jumps.to_nonfinite(ahead=False), lambda: viewer.jumps.to_extreme(highest=True)):
        before = CountedArray.read
        with counted_memory() as work:
            jump()
        assert CountedArray.read - before <= 2 * AT_ONCE * STEP  # which are finite, and which of those the greatest
        assert work.peak < 64 * STEP
        viewer.jumps.halt()
    assert CountedArray.read > 0, "they are counted"
