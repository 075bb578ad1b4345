"""`/regex` and `@[i, j]` in a front end without a cursor: they print the lines they would go to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfdbg_cli.commands.asked.element_request import require_element
from tfdbg_cli.commands.asked.patterns import search_pattern
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import parse_index


def matching_lines(pattern: str, document: Document, width: int | None) -> Document:
    """The lines of `document` that match `pattern`, with their 1-based numbers; small letters match any case.

    Raises:
        TfdbgError: not a regular expression, or no line matches.

    """
    regex = search_pattern(pattern)
    found = [(number, item) for number, item in enumerate(document.lines(width), 1) if regex.search(item.text)]
    if not found:
        raise TfdbgError(f"No line of the last output matches {pattern!r}.")
    digits = len(str(found[-1][0]))
    shown = [line(Span(f"{number:{digits}}: ", Style.DIM), *_marked(item.text, regex)) for number, item in found]
    data = {"matches": [{"line": number, "text": item.text} for number, item in found]}
    return text_document("matches", *shown, data=data)


def _marked(text: str, regex: re.Pattern[str]) -> Iterator[Span]:
    end = 0
    for match in regex.finditer(text):
        yield Span(text[end : match.start()])
        yield Span(match.group(), Style.MATCH)
        end = match.end()
    yield Span(text[end:])


def element_lines(text: str, document: Document, width: int | None) -> Document:
    """The line of a printed array that shows the element `text`, such as `[2, 0]` or `2,0`, and the lines around it.

    Raises:
        TfdbgError: not an index, no array was printed last, or the element is not on it.

    """
    index = parse_index(text)
    if not index or not all(isinstance(i, int) and i >= 0 for i in index):
        raise TfdbgError(f"Cannot read {text!r} as an element.", hint="Write @[2, 0] for row 2, column 0.")
    wanted = tuple(i for i in index if isinstance(i, int))
    require_element(document, wanted)
    lines = document.lines(width)
    place = _line_of(wanted, lines)
    if place is None:
        raise TfdbgError(f"The last output does not show an element {list(wanted)}.", hint="`pt -a` prints all.")
    first = max(0, place - 2)
    around = [
        line(Span("> " if number == place else "  ", Style.MATCH if number == place else Style.DIM), *item.spans)
        for number, item in enumerate(lines[first : place + 3], first)
    ]
    return text_document("element", *(around or [EMPTY_LINE]), data={"element": wanted, "text": lines[place].text})


def _line_of(wanted: tuple[int, ...], lines: Sequence[Line]) -> int | None:
    """The last line that begins at or before `wanted`, in an array of as many axes, in the same row."""
    found: int | None = None
    for number, item in enumerate(lines):
        if item.element is None or len(item.element) != len(wanted):
            continue
        if item.element > wanted:
            break
        found = number if item.element[:-1] == wanted[:-1] else None
    return found
