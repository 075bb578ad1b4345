"""Rows as a canvas: the whole, and every rectangle of it, as urwid's own canvas of text gives them."""

from __future__ import annotations

import urwid
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.tui.reading.paint import paint
from tfdbg_cli.tui.reading.row_canvas import RowCanvas

_COLS = 12
_LINES = st.lists(st.tuples(st.text("ab中é\u0300 ", max_size=9), st.sampled_from(list(Style)[:4])), max_size=4)


def _cells(content):
    """Looks and texts, one a byte, however the runs are divided."""
    return [[(look, cs, byte) for look, cs, text in row for byte in text] for row in content]


@given(st.lists(_LINES, min_size=1, max_size=4), st.data())
def test_any_rectangle_is_what_urwids_own_canvas_gives(lines, data):
    rows = [paint(Line(tuple(Span(*part) for part in parts)), _COLS).runs for parts in lines]
    ours = RowCanvas(rows, _COLS)
    theirs = urwid.TextCanvas(
        [b"".join(text for _, _, text in row) for row in rows],
        [[(look, len(text)) for look, _, text in row] for row in rows],
        [[(cs, len(text)) for _, cs, text in row] for row in rows],
        maxcol=_COLS,
    )
    left, top = data.draw(st.integers(0, _COLS - 1)), data.draw(st.integers(0, len(rows) - 1))
    where = (left, top, data.draw(st.integers(1, _COLS - left)), data.draw(st.integers(1, len(rows) - top)))
    assert (ours.cols(), ours.rows()) == (theirs.cols(), theirs.rows())
    assert _cells(ours.content()) == _cells(theirs.content())
    assert _cells(ours.content(*where)) == _cells(theirs.content(*where))


def test_looks_are_replaced_where_a_map_of_them_is_given():
    row = paint(Line((Span("a", Style.NAME),)), 2).runs
    look = row[0][0]
    assert next(RowCanvas([row], 2).content(attr={look: "other"}))[0] == ("other", None, b"a")
