"""A line of source at a glance: the lines around it."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.asked.source_file import source_named, take_file
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line

_AROUND = 20


def source_preview(context: Context, options: argparse.Namespace) -> Document:
    """The lines around the one that `ps` would begin at."""
    take_file(options)
    path, source = source_named(context, options.source_file_path)
    number = min(max(1, options.line_begin or options.init_line or 1), len(source))
    rows = excerpt(source, number, around=_AROUND)
    head = line(Span(path, Style.TITLE), f"  line {number} of {len(source)}")
    here = next((at for at, row in enumerate(rows) if row.text.startswith("▸")), 0)
    data = {"previewed": path, "line": number, "lines": [row.text for row in rows]}
    return Document("preview", (Text((head, EMPTY_LINE, *rows)),), lambda: data, path.rpartition("/")[2], here + 2)
