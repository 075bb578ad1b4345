"""Colours for terminals."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.ansi import CODES, ansi_row, wants_color
from tfdbg_cli.document.text import Span, Style, line, plain_row


def test_every_style_has_a_look() -> None:
    assert set(CODES) == set(Style)


def test_spans_are_coloured_and_nothing_stays_switched_on() -> None:
    row = ansi_row(line("a ", Span("nan", Style.NAN), "  "))
    assert row == "a \x1b[1;31mnan\x1b[0m"
    assert ansi_row(line(Span("", Style.ERROR))) == ""


@pytest.mark.parametrize("lower", [ansi_row, plain_row])
def test_control_characters_never_reach_the_terminal(lower) -> None:
    assert lower(line("a\x1b[2J\x07\ud800\tb")) == "a\\x1b[2J\\x07\\ud800\\tb"


@pytest.mark.parametrize(
    ("environ", "tty", "expected"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "vt100"}, True, False),
        ({"TERM": "vt220-8"}, True, False),
        ({"TERM": "xterm-mono"}, True, False),
        ({"TERM": "vt525"}, True, True),
        ({"TERM": "vt100", "FORCE_COLOR": "1"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0", "TERM": "xterm"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR": "0", "TERM": "xterm"}, True, False),
    ],
)
def test_the_person_decides_about_colours(environ, tty, expected) -> None:
    assert wants_color(environ, tty) is expected
