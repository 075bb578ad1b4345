"""The encoding in which a screen is drawn: that of its terminal, or ASCII where a user wants no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import urwid
from urwid.util import get_encoding

from tfdbg_cli.plain_text import in_ascii

_WHOLE = {"utf-8", "utf8", "utf"}  # as urwid has them
_BY_CHOICE = "us-ascii"  # ASCII in name and fact, and told apart from a terminal's own "ascii"


def encoded_for(theme: str, own: str) -> str:
    """The encoding of a screen in this theme, whose terminal has the encoding `own`."""
    return _BY_CHOICE if theme == "ascii" else own


@contextmanager
def kept_encoding() -> Iterator[str]:
    """The encoding that urwid is set to, which it has again afterwards."""
    own = get_encoding()
    try:
        yield own
    finally:
        urwid.set_encoding(own)


def _in_room(char: str, encoding: str) -> str:
    """`char`; where the encoding has none, of another width than one column, marks of that width."""
    width = urwid.calc_width(char, 0, 1)
    if width == 1:
        return char
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return "?" * width
    return char


def shown_in(text: str, encoding: str) -> str:
    """`text` as a screen with this encoding draws it.

    A terminal without UTF-8 draws lines by its second set of characters (DEC's); who chose ASCII gets nothing else.
    What is two columns wide stays so, since the room for it was computed before.
    """
    if encoding in _WHOLE or text.isascii():
        return text
    text = "".join(_in_room(char, encoding) for char in text)
    return in_ascii(text) if encoding == _BY_CHOICE else text
