"""Styled text: spans in lines, each span with a meaning and, where it leads somewhere, a command."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.plain_text import printable


class Style(StrEnum):
    """What a span means. Front ends decide how it looks; nothing is said by colour alone."""

    PLAIN = ""
    TITLE = "title"
    HEADING = "heading"
    DIM = "dim"  # library frames, legends, elisions
    LABEL = "label"  # the name of a field
    NAME = "name"  # tensor and node names
    OP = "op"
    NUMBER = "number"
    DEVICE = "device"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"
    HINT = "hint"
    NAN = "nan"
    INF = "inf"
    MARK = "mark"  # array elements in a highlighted range
    MATCH = "match"  # hits of a search
    KEY = "key"  # keys and commands in help
    KEYWORD = "keyword"  # source code
    STRING = "string"
    COMMENT = "comment"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text with a style; `link` is the command string that following it runs.

    Control characters are made visible here, once, for every screen, terminal and file that shows a span: names,
    messages and values are data of a foreign program, never terminal codes.
    """

    text: str
    style: Style = Style.PLAIN
    link: str = ""

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            object.__setattr__(self, "text", printable(self.text))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of spans, without line ends.

    `element` is the index of the first array element shown on it, where the line belongs to an array. `breaks` says
    whether it is broken into rows where it is too wide; None leaves that to what it looks like.
    """

    spans: tuple[Span, ...] = ()
    element: tuple[int, ...] | None = None
    breaks: bool | None = None

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


EMPTY_LINE = Line()
SHOW_ALL = "show all"  # the text of a link that takes a filter away, which is nothing to be chosen first


def line(*parts: Span | str) -> Line:
    """A line of spans and plain texts."""
    return Line(tuple(Span(part) if isinstance(part, str) else part for part in parts))


def lines_of(text: str, style: Style = Style.PLAIN) -> tuple[Line, ...]:
    """`text` split at its line ends, each line in one style."""
    return tuple(Line((Span(row, style),)) if row else EMPTY_LINE for row in text.expandtabs().split("\n"))


def plain_row(line: Line) -> str:
    """One line without styles."""
    return line.text.rstrip(" ")
