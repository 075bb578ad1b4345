import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.tui.panes.layout import Rect, layout_for


@given(st.integers(40, 400), st.integers(10, 200), st.integers(1, 3), st.integers(0, 5))
def test_the_parts_fill_the_screen_and_the_document_has_most_of_it(cols, rows, status, candidates):
    layout = layout_for(cols, rows, status, candidates)
    assert 1 + layout.crumbs + layout.body + layout.candidates + layout.status + 1 + layout.footer == rows
    assert layout.body >= rows // 2
    assert layout.status >= 1
    assert layout.prompt_row == rows - 1 - layout.footer


@pytest.mark.parametrize(("cols", "rows"), [(39, 24), (80, 9), (0, 0), (1, 1)])
def test_nothing_fits_on_a_tiny_screen(cols, rows):
    assert layout_for(cols, rows) is None


@given(st.integers(40, 400), st.integers(10, 200), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_panes_share_the_body_with_a_column_between_and_a_title_above(cols, rows, shares):
    layout = layout_for(cols, rows, shares=shares)
    assert len(layout.panes) == len(shares)
    head = 1 if len(shares) > 1 else 0
    left = 0
    for place in layout.panes:
        assert (place.left, place.top) == (left, layout.body_top + head)
        assert place.rows == layout.body - head
        left += place.cols + 1
    assert left == cols + 1
    widths = [place.cols for place in layout.panes]
    room = cols - len(shares) + 1
    assert all(abs(w - room * share / sum(shares)) < 1 for w, share in zip(widths, shares, strict=True))


def test_a_rectangle_holds_its_places():
    place = Rect(10, 2, 5, 3)
    assert place.holds(10, 2)
    assert place.holds(14, 4)
    assert not any(place.holds(*spot) for spot in ((9, 2), (15, 2), (10, 1), (10, 5)))


@given(st.integers(40, 400), st.integers(16, 200), st.lists(st.integers(1, 9), min_size=2, max_size=3))
def test_panes_above_one_another_share_the_rows_with_a_title_between(cols, rows, shares):
    layout = layout_for(cols, rows, shares=shares, stacked=True)
    row = layout.body_top
    for number, place in enumerate(layout.panes):
        assert (place.left, place.cols, place.top) == (0, cols, row + (number > 0))
        row = place.top + place.rows
    assert row == layout.body_top + layout.body


def test_the_border_is_what_stands_between_the_first_two_panes():
    beside = layout_for(200, 60, shares=(3, 2))
    assert [col for col in range(200) if beside.on_border(col, 20)] == [119]
    assert not beside.on_border(119, 0), "the bars have none"
    below = layout_for(100, 50, shares=(3, 2), stacked=True)
    (row,) = (row for row in range(50) if below.on_border(5, row))
    assert row == below.panes[1].top - 1
    assert not layout_for(200, 60).on_border(119, 20)
    assert beside.share_at(50, 7) == 0.25
