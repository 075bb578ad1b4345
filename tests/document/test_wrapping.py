"""Paragraphs behind a label."""

from __future__ import annotations

from support.plain_text import plain

from tfdbg_cli.document.wrapping import Labelled


def test_wrapped_behind_the_label() -> None:
    text = "one two three four five six seven"
    assert plain(Labelled("Cause", text, label_width=8).lines(28)).split("\n") == [
        "Cause   one two three four", "        five six seven",
    ]  # fmt: skip


def test_line_ends_are_kept_and_without_width_nothing_wraps() -> None:
    assert plain(Labelled("M", "a b\n\nc", label_width=2).lines(None)) == "M a b\n\n  c"


def test_names_stay_in_one_piece() -> None:
    assert "dense-1/MatMul:0" in plain(Labelled("", "see dense-1/MatMul:0 there", label_width=2).lines(22))
