"""Lines made when they are looked at."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.text import line


def test_only_lines_that_are_looked_at_are_made() -> None:
    made: list[int] = []

    def make(i: int):
        made.append(i)
        return line(str(i))

    lines = Rows(10**9, make).lines(80)
    assert (len(lines), lines[5].text, lines[-1].text) == (10**9, "5", "999999999")
    assert [item.text for item in lines[2:4]] == ["2", "3"]
    assert made == [5, 999999999, 2, 3]


def test_behind_the_end() -> None:
    with pytest.raises(IndexError):
        Rows(1, lambda i: line("")).lines(None)[1]
