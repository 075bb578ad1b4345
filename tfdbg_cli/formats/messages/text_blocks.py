"""Protobuf's text format in blocks: where each message begins and ends, before anything is parsed.

A parser of the whole text takes minutes for a large graph. Braces are matched all at once; what stands in a block is
parsed when somebody asks for it.
"""

from __future__ import annotations

import re
import warnings
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import text_format

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.text_syntax import Fault, first_fault, line_and_column
from tfdbg_cli.model.dtypes import element_type_named

_HIDDEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*")
_NAME_BEFORE = re.compile(rb"([A-Za-z_]\w*)\s*:?\s*\Z")
_STRING_FIELD = re.compile(rb"([A-Za-z_]\w*)\s*:\s*((?:\"(?:[^\"\\\n]|\\.)*\"\s*|'(?:[^'\\\n]|\\.)*'\s*)+)")
_PLAIN_FIELD = re.compile(rb"\b(?:name|op|input|device)\s*:")
_STRING = re.compile(rb"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")
_ENUM = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\bDT_([A-Z0-9_]+)\b")
_ESCAPE = re.compile(rb"\\([xX][0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {
    b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"?": b"?",
    b"\\": b"\\", b"'": b"'", b'"': b'"',
}  # fmt: skip
_LONGEST_NAME = 80  # bytes in which the name of a field is looked for
_OPEN, _CLOSE = ord("{"), ord("}")
_ODD_NAMES = {"float": "float32", "double": "float64", "half": "float16"}


class TextDamageError(ValueError):
    """The text is no message from byte `offset` on, which is at `place`; the text of the error is the reason."""

    def __init__(self, reason: str, offset: int, place: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.place = place


class TextBlock(NamedTuple):
    """A message in a text: the name of its field, and where what stands between its braces lies."""

    field: str
    start: int
    end: int


class TextBlocks:
    """The blocks of a text in protobuf's text format.

    Raises:
        TextDamageError: braces do not match.

    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._bare = _HIDDEN.sub(lambda match: b" " * (match.end() - match.start()), text)
        self.ended = ""  # why the text ends early, if it does
        self._match_braces()

    def _match_braces(self) -> None:
        data = np.frombuffer(self._bare, np.uint8)
        places = np.flatnonzero((data == _OPEN) | (data == _CLOSE))
        opens = data[places] == _OPEN
        depth = np.cumsum(np.where(opens, 1, -1))
        below = np.flatnonzero(depth < 0)
        if len(below):
            closing = Fault(int(places[below[0]]), "a brace closes what nobody opened")
            first = min(closing, self.fault or closing)  # a quote that is missing may have hidden braces
            raise TextDamageError(first.reason, first.offset, self.place(first.offset))
        # What opens at a depth is closed by the next brace of that depth: both stand in turn in each depth.
        level = np.where(opens, depth, depth + 1)
        order = np.argsort(level, kind="stable")
        paired = places[order]
        is_open = opens[order]
        ends = np.full(len(order), len(data), np.int64)
        follows = np.flatnonzero(is_open[:-1] & ~is_open[1:] & (level[order][:-1] == level[order][1:]))
        ends[follows] = paired[follows + 1]
        if len(depth) and depth[-1] > 0:
            self.ended = f"it ends inside of {int(depth[-1])} open braces"
        starts = paired[is_open]
        by_place = np.argsort(starts, kind="stable")
        # Arrays of Python's own: NumPy takes ten times as long to look for one number.
        self._starts = array("q", starts[by_place].astype(np.int64).tobytes())
        self._ends = array("q", ends[is_open][by_place].tobytes())

    @cached_property
    def fault(self) -> Fault | None:
        """The first place at which the text makes no sense; None where there is none, or it only ends too early."""
        found = first_fault(self.text)
        if found is not None and self.ended and b"\n" not in self.text[found.offset :].strip():
            return None
        return found

    def place(self, offset: int) -> str:
        """Where a byte is: `line 3, column 7`."""
        return line_and_column(self.text, offset)

    def inside(self, block: TextBlock | None = None) -> Iterator[TextBlock]:
        """The blocks that lie directly in `block`; without one those at the top."""
        at, end = (0, len(self.text)) if block is None else (block.start, block.end)
        place = bisect_left(self._starts, at)
        while place < len(self._starts) and self._starts[place] < end:
            brace, close = self._starts[place], self._ends[place]
            name = _NAME_BEFORE.search(self._bare, max(at, brace - _LONGEST_NAME), brace)
            yield TextBlock("" if name is None else name[1].decode("ascii"), brace + 1, min(close, end))
            at = close + 1
            place = bisect_left(self._starts, at)

    def texts(self, block: TextBlock) -> Iterator[tuple[str, str]]:
        """The fields with strings that stand directly in `block`, in their order, each with its value."""
        at = block.start
        first = bisect_left(self._starts, at)
        inside = self._starts[first] if first < len(self._starts) else block.end
        # TensorFlow writes them before the first message; looking between all messages takes its time.
        between = _PLAIN_FIELD.search(self._bare, inside, block.end) if inside < block.end else None
        blocks = (
            self.inside(block) if between else [TextBlock("", inside + 1, block.end)] if inside < block.end else []
        )
        for inner in (*blocks, TextBlock("", block.end + 1, block.end)):
            for match in _STRING_FIELD.finditer(self.text, at, max(at, inner.start - 1)):
                yield match[1].decode("ascii"), _unescaped(match[2])
            at = inner.end + 1

    def parsed(self, block: TextBlock, message: str, *, as_field: bool = False) -> Any:
        """The message called so that stands in `block`, or of which it is a field: an entry of a map, say.

        Raises:
            TextDamageError: something else does.

        """
        found = schema.CLASSES[message]()
        text = _ENUM.sub(_number, self.text[block.start : block.end])
        text = b"%b {%b}" % (block.field.encode(), text) if as_field else text
        try:
            with warnings.catch_warnings():  # of escapes that Python does not know
                warnings.simplefilter("ignore")
                text_format.Parse(text, found, allow_unknown_field=True)
        except (text_format.ParseError, UnicodeDecodeError, ValueError, RecursionError) as error:
            reason = re.sub(r"^\d+:\d+ : ", "", str(error)).rstrip(".")
            place = self.place(block.start)
            raise TextDamageError(reason or type(error).__name__, block.start, place) from error
        return found


def _number(match: re.Match[bytes]) -> bytes:
    """The number of an element type; strings stay as they are."""
    if match[1] is None:
        return match[0]
    name = match[1].decode("ascii").lower()
    reference = name.endswith("_ref")
    found = element_type_named(_ODD_NAMES.get(name.removesuffix("_ref"), name))
    return b"0" if found is None else str(found.number + (100 if reference else 0)).encode()


def _unescaped(literals: bytes) -> str:
    """The text that one or several string literals are."""
    parts = [match[1] if match[1] is not None else match[2] for match in _STRING.finditer(literals)]
    return b"".join(_ESCAPE.sub(_meant, part) for part in parts).decode("utf-8", "backslashreplace")


def _meant(match: re.Match[bytes]) -> bytes:
    """The byte that an escape stands for; what no language knows as one stays as it is."""
    text = match[1]
    if text[:1] in b"xX" and len(text) > 1:
        return bytes([int(text[1:], 16)])
    if text.isdigit():
        return bytes([int(text, 8) & 0xFF])
    return _ESCAPED.get(text, match[0])
