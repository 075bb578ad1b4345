"""Durations."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.times import microseconds, time_text


@pytest.mark.parametrize(
    ("us", "unit", "text"),
    [
        (0, "", "0us"), (12.34, "", "12.3us"), (1234, "", "1.23ms"), (5e6, "", "5s"), (5e9, "", "5000s"),
        (1234, "us", "1234us"), (1234, "s", "0.00123s"),
    ],
)  # fmt: skip
def test_time_text(us: float, unit: str, text: str) -> None:
    assert time_text(us, unit) == text


@pytest.mark.parametrize(("text", "us"), [("5", 5), ("5us", 5), (" 1.5 ms ", 1500), ("2s", 2e6), ("1e3us", 1000)])
def test_microseconds(text: str, us: float) -> None:
    assert microseconds(text) == us


@pytest.mark.parametrize("text", ["", "x", "5h", "-1us", "ms", "nan"])
def test_not_a_time(text: str) -> None:
    with pytest.raises(ValueError):
        microseconds(text)
