"""The line of an origin that tells which rows of the batch are behind it."""

from __future__ import annotations

from tfdbg_cli.analysis.batch.components import given_with
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.runs import Run


def batch_lines(run: Run, origin: Origin, label_width: int) -> list[Line]:
    """The rows of the batch behind the offending elements, and what was fed with them."""
    if not origin.batch_rows:
        return []
    batch = origin.batch
    shown = ", ".join(map(str, batch.rows[:12]))
    more = len(batch.rows) - 12
    text = f"{'row' if len(batch.rows) == 1 else 'rows'} {shown}{f' and {more} more' if more > 0 else ''}"
    given = () if batch.stored else given_with(run, batch)
    feeds = [Span(name, Style.NAME, f"pf {quoted(name)}") for name in given]
    if not feeds and batch.source:
        feeds = [Span(batch.source, Style.NAME, f"pt {quoted(batch.source)}")]
    link = f"row {batch.rows[0]}"
    head = Span("Batch".ljust(label_width), Style.LABEL)
    parts: list[Span | str] = [head, Span(text, Style.PLAIN, link), f" of {batch.size}"]
    for i, feed in enumerate(feeds[:3]):
        parts += [("; fed as " if feed.link.startswith("pf") else "; from ") if i == 0 else ", ", feed]
    return [line(*parts)]
