"""Pieces behind a label, none of them broken."""

from __future__ import annotations

from support.plain_text import plain

from tfdbg_cli.document.flow import Flow
from tfdbg_cli.document.text import Span


def _text(*words: str, width: int | None) -> list[str]:
    return plain(Flow("Chain", tuple((Span(word),) for word in words)).lines(width)).split("\n")


def test_pieces_fill_the_line_and_go_on_below_without_a_blank() -> None:
    assert _text("alpha", " beta-beta", " gamma-gamma", width=32) == [
        "Chain     alpha beta-beta",
        "          gamma-gamma",
    ]
    assert _text("alpha", " beta", width=None) == ["Chain     alpha beta"]


def test_a_piece_wider_than_the_screen_stays_whole() -> None:
    assert _text("x" * 40, " y", width=30) == [f"Chain     {'x' * 40}", "          y"]


def test_nothing_is_one_label() -> None:
    assert _text(width=80) == ["Chain"]
