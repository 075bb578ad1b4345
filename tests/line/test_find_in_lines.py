"""`/regex` and `@[i, j]` without a screen."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.document import text_document
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.search import element_lines, matching_lines

DOCUMENT = text_document("text", *(line(f"row {i} Dense") for i in range(1, 13)))
ARRAY = text_document(
    "tensor",
    line("shape: [3, 4]"),
    Line((Span("[[0, 1"),), (0, 0)),
    Line((Span("   2, 3]"),), (0, 2)),
    Line((Span(" [4, 5"),), (1, 0)),
    Line((Span("   6, 7]"),), (1, 2)),
    Line((Span(" ..."),)),
    Line((Span(" [12, 13]]"),), (3, 0)),
)


def test_matching_lines_carry_their_numbers_and_mark_the_hits() -> None:
    found = matching_lines("row 1", DOCUMENT, None)
    assert [item.text for item in found.lines()] == [
        " 1: row 1 Dense", "10: row 10 Dense", "11: row 11 Dense", "12: row 12 Dense",
    ]  # fmt: skip
    assert Span("row 1", Style.MATCH) in found.lines()[0].spans
    assert found.data()["matches"][1] == {"line": 10, "text": "row 10 Dense"}


def test_small_letters_match_any_case_and_capitals_themselves() -> None:
    assert len(matching_lines("dense", DOCUMENT, None).lines()) == 12
    with pytest.raises(TfdbgError, match="matches 'DENSE'"):
        matching_lines("DENSE", DOCUMENT, None)


def test_a_bad_regex_is_said_to_be_one() -> None:
    with pytest.raises(TfdbgError, match="regular expression"):
        matching_lines("(", DOCUMENT, None)


@pytest.mark.parametrize(
    ("text", "row"), [("[0, 1]", "[[0, 1"), ("1,3", "   6, 7]"), ("[3, 0]", " [12, 13]]"), ("[1,0]", " [4, 5")]
)
def test_an_element_is_found_on_its_line(text: str, row: str) -> None:
    lines = [item.text for item in element_lines(text, ARRAY, None).lines()]
    assert f"> {row}" in lines
    assert len(lines) <= 5


@pytest.mark.parametrize("text", ["[2, 0]", "[1]", "[0, 0, 0]"])
def test_an_element_that_is_not_shown_is_refused(text: str) -> None:
    with pytest.raises(TfdbgError, match="does not show"):
        element_lines(text, ARRAY, None)


@pytest.mark.parametrize("text", ["", "[]", "[0:1]", "[-1, 0]", "zebra", "[...]"])
def test_what_is_no_element_is_refused(text: str) -> None:
    with pytest.raises(TfdbgError, match="Cannot read"):
        element_lines(text, ARRAY, None)
