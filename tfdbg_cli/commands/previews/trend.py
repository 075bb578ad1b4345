"""One norm over the runs, at a glance."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.trend_page import chosen_series, series_blocks, trends_of
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line


def trend_preview(context: Context, options: argparse.Namespace) -> Document:
    """What `trends` would show, one norm below another."""
    series = chosen_series(trends_of(context, everything=options.all), options)
    blocks: list[Block] = []
    for one in series:
        title = f"{one.quantity} of {one.name}"
        blocks += [Text((line(Span(title, Style.TITLE)), EMPTY_LINE)), *series_blocks(context, one)]
    data = {"previewed": "trends", "series": len(series)}
    return Document("preview", tuple(blocks), lambda: data, "trends")
