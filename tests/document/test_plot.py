"""Plots: the whole width, gaps with signs where something is not finite, a logarithmic scale where it tells more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.golden import check_golden
from support.plain_text import plain

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.document.plot import Plot
from tfdbg_cli.document.text import Style
from tfdbg_cli.plain_text import in_ascii

LOSSES = np.concatenate([10 * 0.9 ** np.arange(30), [np.nan, np.inf, 3.0]])


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_plot_as_a_person_saw_it(width):
    check_golden(f"plots/losses-{width}", plain(Plot(LOSSES, ("#1", "#33")).lines(width)))


def test_numbers_far_apart_are_drawn_on_a_logarithmic_scale():
    far = Plot(10.0 ** np.arange(-6, 6), ("#1", "#12"))
    assert far.is_log
    rows = [row.text for row in far.lines(60)]
    assert "log scale" in rows[-1]
    lows = [next((at for at, cell in enumerate(row) if "\u2801" <= cell <= "\u28ff"), None) for row in rows[:6]]
    assert lows == sorted(lows, reverse=True), "powers of ten are a straight line"
    assert not Plot(np.array([1.0, 2.0]), ("a", "b")).is_log
    assert Plot(np.array([1.0, 2.0]), ("a", "b"), log=True).is_log
    assert not Plot(np.array([-1.0, -2.0]), ("a", "b"), log=True).is_log, "there is no logarithm"


@given(
    arrays(np.float64, st.integers(1, 300), elements=st.floats(allow_nan=True, allow_infinity=True, width=64)),
    st.integers(20, 250),
    st.sampled_from([None, True]),
)
def test_every_row_fits_the_screen_and_nothing_breaks(values, width, log):
    rows = Plot(values, ("#1", "#2"), log).lines(width)
    assert len(rows) == 8
    assert max(display_width(row.text) for row in rows) <= max(width, 40)
    assert in_ascii(plain(rows)).isascii()
    signs = {span.text[0] for span in rows[6].spans if span.style in (Style.NAN, Style.INF)}
    assert bool(signs) == (not np.isfinite(values).all())


def test_nothing_finite_is_drawn_too():
    text = plain(Plot(np.array([np.nan, np.nan]), ("#1", "#2")).lines(40))
    assert text.count("×") == 2


def test_the_ends_of_the_scale_are_told_apart_and_one_number_has_one_label():
    def labels(*values):
        return [row.text.split("│")[0].strip() for row in Plot(np.array(values), ("#1", "#3")).lines(60)[:6]]

    assert labels(0.0, 0.5, 1.0) == ["1", "", "", "", "", "0"]
    assert labels(0.693147, 0.693149) == ["0.693149", "", "", "", "", "0.693147"]
    assert labels(1.0, 1.0 + 2**-52)[0] == "1.0000000000000002"
    assert labels(np.nan, np.nan) == [""] * 6
    assert labels(7.0, 7.0, 7.0) == ["", "", "", "7", "", ""]
    constant = [row.text for row in Plot(np.array([7.0, 7.0]), ("#1", "#2")).lines(60)]
    assert any("\u2801" <= cell <= "\u28ff" for cell in constant[3]), "where the line is"
