"""Pieces behind a label, none of them broken."""

from __future__ import annotations

from support.plain_text import plain

from tfdbg_cli.document.flow import Flow
from tfdbg_cli.document.text import Span, Style


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


def test_of_a_piece_wider_than_the_screen_the_name_keeps_its_end() -> None:
    """A blind test: the chain to an op in a loop was cut where the op stands, four times, and no line was told."""
    name = "rnn/while/dnc/memory_access/write_weights/write_content_weights/Softmax"
    piece = (Span(" → "), Span(name, Style.NAME, "pt x"), Span(" addressing.py:88", Style.DIM))
    rows = Flow("Chain", ((Span("x", Style.NAME),), piece)).lines(60)
    assert plain(rows).split("\n") == [
        "Chain     x",
        "          → …/write_content_weights/Softmax addressing.py:88",
    ]
    assert [span.link for span in rows[1].spans if "Softmax" in span.text] == ["pt x"]
    assert name in plain(Flow("Chain", (piece,)).lines(None))


def test_nothing_is_one_label() -> None:
    assert _text(width=80) == ["Chain"]
