"""Breaking a line of prose into rows that fit, its styles and links kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.tui.reading.paint import columns

# Leading blanks, and a label with its gap where there is one: what rows after the first are indented to.
_HANG = re.compile(r"\s*(?:\S+(?: \S+)?\s{2,})?")
_FIRST_MARK = "\u0300"  # before it every character that is shown takes one column
_CODE = {Style.KEYWORD, Style.STRING, Style.COMMENT, Style.DEFINITION}


def is_prose(content: Line) -> bool:
    """Whether breaking the line does no harm: it is neither source code nor part of an array, or says so itself."""
    if content.breaks is not None:
        return content.breaks
    return content.element is None and not any(span.style in _CODE for span in content.spans)


def wrap(content: Line, cols: int) -> list[Line]:
    """`content` in rows of at most `cols` columns, broken at blanks where there are any."""
    text = content.text
    if columns(text) <= cols:
        return [content]
    match = _HANG.match(text)
    hang = columns(match.group()) if match else 0
    if hang > cols // 2:
        hang = min(len(text) - len(text.lstrip()), cols // 2)
    rows: list[Line] = []
    start = 0
    while start < len(text):
        room = cols - (hang if rows else 0)
        end = _break(text, start, room, hang if not rows else 0)
        cut = _part(content.spans, start, start + len(text[start:end].rstrip()))
        rows.append(Line((Span(" " * hang), *cut) if rows and hang else cut, None))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return rows


def _break(text: str, start: int, room: int, least: int) -> int:
    """Where the row that begins at `start` ends: behind the last blank that fits, else in the middle of a word."""
    end, taken = start, 0
    while end < len(text):
        # A mark can make the character before it wider: such text is measured from the start of the row.
        taken = taken + 1 if text[end] < _FIRST_MARK else columns(text[start : end + 1])
        if taken > room and end > start:
            break
        end += 1
    if end >= len(text) or text[end] == " ":
        return end
    blank = text.rfind(" ", start, end)
    return blank + 1 if blank > start + least else end


def _part(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The characters `start` to `end` of `spans`."""
    parts = []
    offset = 0
    for span in spans:
        text = span.text[max(0, start - offset) : max(0, end - offset)]
        if text:
            parts.append(Span(text, span.style, span.link))
        offset += len(span.text)
    return tuple(parts)
