"""How many terminal columns a text takes, and cutting or breaking it to fit."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_KEPT_CHARS = 1 << 12  # of which the width is known


def display_width(text: str) -> int:
    """Terminal columns of `text`: two for East Asian wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


@lru_cache(maxsize=_KEPT_CHARS)
def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def pad(text: str, width: int) -> str:
    """The blanks that fill `text` up to `width` columns."""
    return " " * (width - display_width(text))


def clip(text: str, width: int) -> str:
    """`text` in at most `width` columns; what does not fit gives way to `…`."""
    if display_width(text) <= width:
        return text
    kept, taken = [], 0
    for char in text:
        taken += _char_width(char)
        if taken > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…" if width > 0 else ""


def clip_start(text: str, width: int) -> str:
    """`text` in at most `width` columns, its end kept; what does not fit gives way to `…`."""
    if display_width(text) <= width:
        return text
    return clip(text[::-1], width)[::-1]


def wrapped(text: str, width: int, *, at_hyphens: bool = True) -> Sequence[str]:
    """`text`, one paragraph, in rows of at most `width` columns, at least one row; blanks between rows are dropped.

    A word that is longer than a row is cut; a character of two columns takes them also where there is one only.
    """
    if text.isascii() or all(_char_width(char) == 1 for char in text):
        return textwrap.wrap(text, width, break_on_hyphens=at_hyphens) or [""]
    rows = [""]
    for part in re.split(r"(\s+)", text.rstrip()):
        room = width - display_width(rows[-1])
        if part.isspace():
            rows[-1] += part if display_width(part) < room else " " * max(room, 0)
        elif display_width(part) <= room:
            rows[-1] += part
        elif display_width(part) <= width:
            rows.append(part)
        else:
            _cut(part, rows, width)
    return [row.rstrip() for row in rows]


def _cut(word: str, rows: list[str], width: int) -> None:
    """Add `word` to the last of `rows`, and what does not fit in rows of its own."""
    for char in word:
        grown = rows[-1] + char
        if display_width(grown) <= width or not rows[-1]:
            rows[-1] = grown
        else:
            rows.append(char)
