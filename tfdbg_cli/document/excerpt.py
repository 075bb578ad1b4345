"""A few lines of source around the one that matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfdbg_cli.document.source import highlighted
from tfdbg_cli.document.text import Line, Span, Style

_LONGEST = 200  # characters of a line: more is data, or made by a program


def excerpt(lines: Sequence[str], number: int, around: int = 2, indent: str = "") -> tuple[Line, ...]:
    """Line `number` (1-based) of a file with `around` lines on both sides, numbered, itself marked `▸`.

    That line is shown whole, broken into rows where it is too wide; the others are cut at the edge of the screen.
    What is too long to read is cut in any case. Empty when the file has no such line: it was changed since.
    """
    if not 1 <= number <= len(lines):
        return ()
    first, last = max(1, number - around), min(len(lines), number + around)
    colored = highlighted(lines)
    digits = len(str(last))
    rows = []
    for i in range(first, last + 1):
        here = i == number
        mark = Span(f"{indent}{'▸' if here else ' '} {i:>{digits}}  ", Style.WARNING if here else Style.DIM)
        rows.append(Line((mark, *_cut(colored[i - 1].spans)), breaks=here))
    return tuple(rows)


def _cut(spans: Sequence[Span]) -> Iterator[Span]:
    """`spans` as far as their text is short enough for an excerpt."""
    left = _LONGEST
    for span in spans:
        if len(span.text) > left:
            yield replace(span, text=f"{span.text[:left]}…")
            return
        left -= len(span.text)
        yield span
