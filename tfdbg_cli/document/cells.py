"""How many terminal columns a text takes, and cutting it to fit."""

from __future__ import annotations

import unicodedata
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
