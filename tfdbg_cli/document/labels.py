"""The labels at the left of a page: a word in a column of its own, and beside it what it tells of."""

from __future__ import annotations

from tfdbg_cli.document.text import Span, Style

LABEL_WIDTH = 10  # columns, with the blanks behind the word
NO_LABEL = " " * LABEL_WIDTH
"""What further lines begin with."""


def label_span(text: str, width: int = LABEL_WIDTH) -> Span:
    """`text` as a label, filled up to `width` columns."""
    return Span(text.ljust(width), Style.LABEL)
