"""A row of numbers as bars."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.plain_text import plain

from tfdbg_cli.document.sparkline import Sparkline
from tfdbg_cli.document.text import Style


def drawn(*values: float, width: int | None = 80) -> str:
    return plain(Sparkline(np.array(values), indent="").lines(width))


def test_the_least_is_lowest() -> None:
    assert drawn(0, 1, 2, 3, 4, 5, 6, 7) == "▁▂▃▄▅▆▇█  0 to 7"
    assert drawn(3, 1, 2).startswith("█▁▅")


def test_nan_and_infinities_are_marked_and_named() -> None:
    assert drawn(1, np.nan, 2, np.inf, -np.inf) == "▁×█↑↓  1 to 2, × NaN, ↑ +inf, ↓ -inf"
    assert drawn(np.nan, np.nan) == "××  × NaN"
    (line,) = Sparkline(np.array([1.0, np.nan])).lines(80)
    assert [span.style for span in line.spans if span.text == "×"] == [Style.NAN]


def test_a_constant_is_a_level_line() -> None:
    assert drawn(2, 2, 2) == "▅▅▅  2 to 2"


def test_more_values_than_columns_share_bars() -> None:
    values = np.arange(1000.0)
    values[500] = np.nan
    (line,) = Sparkline(values).lines(60)
    assert len(line.text) <= 60
    assert "×" in line.text and "a bar" in line.text


@pytest.mark.parametrize(
    "values",
    [
        np.array([-1.7e308, 1.7e308]),
        np.array([False, True]),
        np.array([-(2**62), 2**62]),
        np.array([1, 2], ml_dtypes.bfloat16),
        np.array([0, 2**64 - 1], np.uint64),
    ],
)
def test_every_type_and_range(values: np.ndarray) -> None:
    assert plain(Sparkline(values, indent="").lines(80)).startswith("▁█")


def test_nothing_gives_nothing() -> None:
    assert Sparkline(np.array([])).lines(80) == ()
