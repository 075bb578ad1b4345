"""Which part of an array is on show: always one that there is, and always the one that the head says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.track import Track, window

_SHAPES = st.lists(st.integers(1, 5), max_size=5).map(tuple)
_WALKS = st.lists(
    st.tuples(st.sampled_from(["row", "col", "step", "next", "swap", "turn", "at"]), st.integers(-7, 7)), max_size=12
)


def _walked(plane: Plane, steps: list[tuple[str, int]]) -> Plane:
    for name, by in steps:
        if name == "row":
            plane = plane.along(plane.down, plane.row + by)
        elif name == "col":
            plane = plane.along(plane.across, plane.col + by)
        elif name == "step":
            plane = plane.step(by)
        elif name == "next":
            plane = plane.stepping(by)
        elif name == "swap":
            plane = plane.swapped()
        elif name == "turn":
            plane = plane.turned()
        else:
            plane = plane.at(tuple(by * (axis + 1) for axis in range(len(plane.shape))))
    return plane


@given(_SHAPES, _WALKS)
def test_the_cursor_is_always_an_element_and_stands_where_rows_and_columns_say(shape, steps) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    plane = _walked(Plane.of(shape), steps)
    assert all(0 <= at < length for at, length in zip(plane.cursor, shape, strict=True))
    shown = plane.elements(array)
    assert shown.shape == (plane.height, plane.width)
    assert shown[plane.row, plane.col] == array[plane.cursor]
    assert shown.base is not None, "nothing is copied"


@given(_SHAPES, _WALKS)
def test_the_head_says_which_part_is_shown(shape, steps) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    plane = _walked(Plane.of(shape), steps)
    index, _, turned = plane.where.partition("  ")[0].removeprefix("[").partition("]")
    parts = tuple(slice(None) if part == ":" else int(part) for part in index.split(", ") if part)
    said, shown = array[parts], plane.elements(array)
    assert turned in ("", ".T")
    if said.ndim == 2:
        assert np.array_equal(said.T if turned else said, shown), "as NumPy would write it"
    else:
        assert not turned and np.array_equal(np.ravel(said), np.ravel(shown))


def test_stepping_goes_through_every_frozen_index_and_stops_at_the_ends() -> None:
    plane = Plane.of((2, 3, 4, 5))
    seen = [plane.key]
    while plane.step(1) != plane:
        plane = plane.step(1)
        seen.append(plane.key)
    assert len(set(seen)) == 6
    assert plane.cursor == (1, 2, 0, 0)
    assert plane.where == "[1, 2, :, :]  axis 1 2/3"
    assert plane.stepping(1).where == "[1, 2, :, :]  axis 0 1/2"
    assert plane.stepping(1).step(-1).cursor == (0, 2, 0, 0), "of the first axis alone nothing else goes on"


def test_turning_shows_every_two_axes() -> None:
    plane, seen = Plane.of((2, 3, 4, 5)), set()
    for _ in range(6):
        seen.add((plane.down, plane.across))
        plane = plane.turned()
    assert len(seen) == 6
    assert plane == Plane.of((2, 3, 4, 5))
    assert Plane.of((2, 3)).turned() == Plane.of((2, 3)).swapped()


@given(st.integers(1, 40), st.none() | st.integers(1, 8), st.data())
def test_a_shortened_axis_shows_its_ends_and_is_walked_past_its_gap(length, edge, data) -> None:
    track = Track(length, edge)
    places = [track.place(slot) for slot in range(track.count)]
    shown = [place for place in places if place is not None]
    assert shown == sorted(set(shown))
    assert {0, length - 1} <= set(shown)
    assert places.count(None) == int(track.cut)
    assert all(track.place(track.slot(place)) == place for place in shown)
    at = data.draw(st.sampled_from(shown))
    following = shown[shown.index(at) + 1] if at != shown[-1] else at
    assert track.moved(at, 1) == following
    assert track.moved(at, 10**6) == length - 1


@given(st.integers(0, 60), st.integers(0, 59), st.integers(1, 20), st.integers(1, 60))
def test_a_window_holds_what_it_is_to_show(first, at, size, count) -> None:
    at = min(at, count - 1)
    found = window(first, at, size, count)
    assert found <= at < found + size
    assert 0 <= found <= max(0, count - size)
    if found != first and first <= count - size:
        assert not first <= at < first + size, "it stays where it is if it can"
