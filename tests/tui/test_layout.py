import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.tui.layout import layout_for


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
