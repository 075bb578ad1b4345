"""Rows of the screen in the bytes that the terminal gets: made once for each, with the fewest colour codes.

urwid looks up a code for each piece of each row in every frame, and writes all colours anew at each piece: half of
the time that a frame of 200 by 60 took.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import NamedTuple

import urwid
from urwid.util import get_encoding

from tfdbg_cli.tui.reading.row_canvas import Charset, Row, RowCanvas, Run

_KEPT_ROWS = 2048
_KEPT_STEPS = 1 << 14  # pictures have very many looks
_CODES = re.compile(r"\x1b\[0;([0-9;]*)m")  # what urwid writes before a piece: all of its look, after a reset
_LENGTHS = {"5": 3, "2": 5}  # codes that name a colour, by what stands behind the 38 or 48
_SEEN_ON_BLANKS = frozenset("4579")  # underline, blink, standout, strikethrough
_CONTROLS = bytes.maketrans(bytes([*range(32), 127]), b"?" * 33)
_MORE_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")  # in UTF-8
_RAW: Charset = "U"  # the character set of what urwid hands on as it is


class Colours(NamedTuple):
    """What a piece looks like: codes of its text, of its ground, and those of its other settings."""

    text: str
    ground: str
    settings: tuple[str, ...]

    @classmethod
    def of(cls, escape: str) -> Colours | None:
        """Those that `escape` sets, which begins with a reset; None where it does anything else."""
        found = _CODES.fullmatch(escape)
        if found is None:
            return None
        codes = found[1].split(";")
        text, ground, settings, at = "39", "49", [], 0
        while at < len(codes):
            length = _LENGTHS.get(codes[at + 1], 1) if codes[at] in {"38", "48"} and at + 1 < len(codes) else 1
            code = ";".join(codes[at : at + length])
            if re.match(r"[39]\d", code):
                text = code
            elif re.match(r"4\d|10\d", code):
                ground = code
            elif code:
                settings.append(code)
            at += length
        return cls(text, ground, tuple(settings))

    @property
    def hidden_by_blanks(self) -> bool:
        """Whether nothing but the ground is seen of a blank."""
        return _SEEN_ON_BLANKS.isdisjoint(self.settings)


class EncodedRows:
    """Rows as bytes. `escape` gives the code of a look, as urwid writes it on its own."""

    def __init__(self, escape: Callable[[Hashable], str]) -> None:
        self._escape = escape
        self._row = lru_cache(_KEPT_ROWS)(self._made)
        self._step = lru_cache(_KEPT_STEPS)(self._stepped)
        self._last: RowCanvas | None = None

    def forget(self) -> None:
        """The codes of looks have changed."""
        self._row.cache_clear()
        self._step.cache_clear()
        self._last = None

    def canvas(self, canvas: urwid.Canvas) -> urwid.Canvas:
        """The same canvas in bytes, to be drawn whole; as it is for a terminal with several character sets.

        Its last row stays: the last character of that is pushed into its place by urwid. Where it looks as the one
        before, that is given again: urwid writes nothing then, where else it hides the cursor and shows it, which
        starts one that blinks anew.
        """
        if get_encoding() != "utf-8":
            return canvas
        rows = list(canvas.content())
        encoded: list[Row] = [self._row(tuple(row)) for row in rows[:-1]]
        found = RowCanvas([*encoded, *rows[-1:]], canvas.cols(), canvas.cursor)
        if self._last is None or not self._last.looks_as(found):
            self._last = found
        return self._last

    def _made(self, row: Row) -> tuple[Run, ...]:
        """`row` as one piece, or as it is where that cannot be."""
        written: list[bytes] = []
        now: Colours | None = None
        for look, charset, text in row:
            if charset is not None:
                return tuple(row)
            codes, now = self._step(now, look, text.isspace())
            written += (codes, _harmless(text))
        return ((None, _RAW, b"".join([*written, self._step(None, None, False)[0]])),)

    def _stepped(self, now: Colours | None, look: Hashable, blank: bool) -> tuple[bytes, Colours | None]:
        """What is written for a piece with that look behind one in the colours of `now`, and what then holds."""
        escape = self._escape(look)
        wanted = Colours.of(escape)
        if now is not None and wanted is not None:
            escape, wanted = _change(now, wanted, blank=blank)
        return escape.encode("ascii"), wanted


def _harmless(text: bytes) -> bytes:
    """`text` without codes of its own, as urwid writes it on its own."""
    text = text.translate(_CONTROLS)
    return _MORE_CONTROLS.sub(b"?", text) if b"\xc2" in text else text


def _change(now: Colours, wanted: Colours, *, blank: bool) -> tuple[str, Colours]:
    """The codes that make those of `now` the `wanted` ones, as far as they are seen, and what then holds."""
    if blank and now.hidden_by_blanks and wanted.hidden_by_blanks:
        wanted = now._replace(ground=wanted.ground)
    codes = [code for code, before in ((wanted.text, now.text), (wanted.ground, now.ground)) if code != before]
    if wanted.settings != now.settings:
        codes = ["0", wanted.text, *wanted.settings, wanted.ground]
    return f"\x1b[{';'.join(codes)}m" if codes else "", wanted
