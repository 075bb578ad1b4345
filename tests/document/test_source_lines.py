"""Source in colours."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_text import plain

from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.source import highlighted
from tfdbg_cli.document.text import Line, Span, Style


def _styles(source: str) -> dict[str, Style]:
    return {span.text.strip(): span.style for line in highlighted(source.split("\n")) for span in line.spans}


def test_styles() -> None:
    styles = _styles('def f(x):  # why\n    return "text" + 3\n')
    assert styles["def"] is Style.KEYWORD and styles["f"] is Style.DEFINITION
    assert styles["# why"] is Style.COMMENT and styles['"text"'] is Style.STRING and styles["3"] is Style.NUMBER


def test_without_pygments_it_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: `origin` failed in a program that had emptied `sys.path`."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pygments"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    lines = highlighted(["def without_pygments():", "    return 1"])
    assert lines == (Line((Span("def without_pygments():"),)), Line((Span("    return 1"),)))


def test_a_line_inside_a_string_of_many_lines() -> None:
    assert _styles('"""first\nsecond\n"""')["second"] is Style.STRING


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=9))
def test_every_line_stays_one_line_and_nothing_is_a_terminal_code(lines: list[str]) -> None:
    shown = highlighted(lines)
    assert len(shown) == len(lines)
    assert all(item.text.isprintable() for item in shown)
    assert all(given == item.text for given, item in zip(lines, shown, strict=True) if given.isprintable())


def test_tabs_are_widened_by_their_column() -> None:
    assert highlighted(["\tx", "ab\tc"])[0].text == "    x"
    assert highlighted(["\tx", "ab\tc"])[1].text == "ab  c"


def test_control_characters_are_made_visible() -> None:
    assert highlighted(['"\x1b[2J"'])[0].text == '"\\x1b[2J"'
    assert [item.text for item in highlighted(["a\rb", "c"])] == ["a\\rb", "c"]


def test_an_excerpt_marks_its_line() -> None:
    rows = excerpt([f"v{i} = {i}" for i in range(1, 12)], 10)
    assert plain(rows).split("\n") == ["   8  v8 = 8", "   9  v9 = 9", "▸ 10  v10 = 10", "  11  v11 = 11"]


@pytest.mark.parametrize("number", [0, 3, -1])
def test_an_excerpt_of_a_line_that_is_not_there_is_empty(number: int) -> None:
    assert excerpt(["a", "b"], number) == ()
