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


def test_names_in_it_are_links_and_parts_of_other_names_are_not() -> None:
    text = "a/Sqrt:0 is 0, net/a/Sqrt:0 and a/Sqrt:01 are not."
    lines = Labelled("Cause", text, label_width=8, links=(("a/Sqrt:0", "pt a/Sqrt:0"), ("0", "pt 0"))).lines(60)
    linked = [(span.text, span.link) for span in lines[0].spans if span.link]
    assert ("a/Sqrt:0", "pt a/Sqrt:0") in linked and len([one for one in linked if one[0] == "a/Sqrt:0"]) == 1
    assert plain(lines).removeprefix("Cause   ") == text
    marked = Labelled("", "\x1b[1m is 0", links=(("\x1b[1m", "pt x"),)).lines(None)
    assert [span.link for span in marked[0].spans if span.link] == ["pt x"], "as it is shown"
