"""A document about one of its lines, on a stream that does not scroll."""

from __future__ import annotations

import io

from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Span, line
from tfdbg_cli.line.output import TextOutput


def _printed(focus: int | None) -> list[str]:
    stream = io.StringIO()
    lines = (line("head"), *(line(f"row {i}") for i in range(1, 30)))
    TextOutput(stream, color=False, width=80).document("ps", Document("source", (Text(lines),), focus=focus))
    return stream.getvalue().splitlines()


def test_begins_a_little_before_the_line_asked_for() -> None:
    assert _printed(20)[:4] == ["head", "… 16 lines above; `> FILE` writes them all", "row 17", "row 18"]
    assert _printed(20)[-1] == "row 29"


def test_without_such_a_line_or_near_the_top_everything_is_printed() -> None:
    assert (
        _printed(None) == _printed(2) == _printed(4) == _printed(12) == ["head", *(f"row {i}" for i in range(1, 30))]
    )


def test_a_long_listing_ends_at_a_bound_and_says_how_to_get_the_rest() -> None:
    def row(i: int) -> tuple[Span, ...]:
        return (Span(f"row {i}"),)

    stream = io.StringIO()
    listing = Document("tensors", (Table((Column("name"),), 20_000, row),))
    TextOutput(stream, color=False, width=None).document("lt -n x", listing)
    rows = stream.getvalue().splitlines()
    assert rows[:2] == ["name", "row 0"]
    assert len(rows) == 2_001
    assert rows[-1] == "… 18,001 lines more: `lt … > FILE` writes them all, `help lt` tells how to choose"


def test_many_lines_are_written_at_a_time() -> None:
    class Counted(io.StringIO):
        writes = 0

        def write(self, text: str) -> int:
            self.writes += 1
            return super().write(text)

    stream = Counted()
    lines = tuple(line(f"row {i}") for i in range(2000))
    TextOutput(stream, color=False, width=80).document("lt", Document("tensors", (Text(lines),)))
    assert stream.getvalue().splitlines() == [f"row {i}" for i in range(2000)]
    assert stream.writes < 10
