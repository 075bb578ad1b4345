"""A few lines of source around the one that matters."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.document.source import highlighted
from tfdbg_cli.document.text import Line, Span, Style, line


def excerpt(lines: Sequence[str], number: int, around: int = 2, indent: str = "") -> tuple[Line, ...]:
    """Line `number` (1-based) of a file with `around` lines on both sides, numbered, itself marked `▸`.

    Empty when the file has no such line: it was changed since.
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
        rows.append(line(mark, *colored[i - 1].spans))
    return tuple(rows)
