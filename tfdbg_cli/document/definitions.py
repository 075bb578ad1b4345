"""Terms and what they mean, in two columns, the second wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.document.cells import clip, display_width, pad, wrapped
from tfdbg_cli.document.text import Line, Span

_GAP = "  "
_NARROWEST = 20  # columns that a meaning gets before it moves below its term


@dataclass(frozen=True)
class Definitions:
    """Pairs of a term and its meaning. On a narrow screen the meaning stands below its term."""

    pairs: tuple[tuple[Span, Span], ...]
    term_width: int = 0  # columns for the terms, to line up with other blocks; a longer one has a line of its own
    indent: str = ""

    def lines(self, width: int | None) -> Sequence[Line]:
        taken = self.term_width or max((display_width(term.text) for term, _ in self.pairs), default=0)
        if width is not None and not self.term_width:
            # One long term must not push every meaning to the edge.
            taken = min(taken, width // 2 - 4)
        room = None if width is None else width - taken - len(self.indent) - len(_GAP)
        found: list[Line] = []
        for term, meaning in self.pairs:
            found += self._pair(term, meaning, taken, room, width)
        return found

    def _pair(self, term: Span, meaning: Span, taken: int, room: int | None, width: int | None) -> list[Line]:
        if width is not None and room is not None and room < _NARROWEST:
            narrow = max(1, width - 2 * len(_GAP) - len(self.indent))
            below = wrapped(meaning.text, narrow) if meaning.text.strip() else ()
            head = Span(clip(term.text, max(1, width - len(self.indent))), term.style, term.link)
            rows = [Span(self.indent + _GAP * 2 + row) for row in below]
            return [_line(self.indent, head), *(_line("", Span(r.text, meaning.style)) for r in rows)]
        rows_of = [meaning.text] if room is None else wrapped(meaning.text, room)
        lines: list[Line] = []
        if display_width(term.text) > taken:
            lines.append(_line(self.indent, term))
            blank = self.indent + " " * taken + _GAP
            return lines + [_line(blank, Span(row, meaning.style)) for row in rows_of]
        gap = Span(pad(term.text, taken) + _GAP)
        lines.append(_line(self.indent, term, gap, Span(rows_of[0], meaning.style)))
        blank = self.indent + " " * taken + _GAP
        return lines + [_line(blank, Span(row, meaning.style)) for row in rows_of[1:]]


def _line(indent: str, *spans: Span) -> Line:
    parts = (Span(indent), *spans) if indent else spans
    return Line(tuple(span for span in parts if span.text))
