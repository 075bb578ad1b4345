"""Lines of which some parts give way on a narrow screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.document.cells import clip_start, display_width
from tfdbg_cli.document.text import Line, Span

_LEAST = 12  # columns that a part keeps


def shrunk(spans: Sequence[Span], room: int, gives_way: Callable[[Span], bool]) -> tuple[Span, ...]:
    """`spans` in `room` columns, as far as what those that give way lose of their start suffices."""
    over = sum(display_width(span.text) for span in spans) - room
    fitted: list[Span] = []
    for span in spans:
        width = display_width(span.text)
        left = min(width, max(_LEAST, width - over)) if over > 0 and gives_way(span) else width
        over -= width - left
        fitted.append(replace(span, text=clip_start(span.text, left)))
    return tuple(fitted)


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
