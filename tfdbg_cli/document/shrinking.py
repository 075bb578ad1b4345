"""A line of which one part gives way on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.document.cells import clip_start, display_width
from tfdbg_cli.document.text import Line, Span

_LEAST = 12  # columns that the middle keeps


@dataclass(frozen=True)
class Shrinking:
    """The line `before`, `middle`, `after`. Where it is too long, `middle` loses its start (a path keeps its end)."""

    before: Span
    middle: Span
    after: Span

    def lines(self, width: int | None) -> Sequence[Line]:
        middle = self.middle
        if width is not None:
            taken = display_width(self.before.text) + display_width(self.after.text)
            middle = replace(middle, text=clip_start(middle.text, max(_LEAST, width - taken)))
        return [Line((self.before, middle, self.after))]
