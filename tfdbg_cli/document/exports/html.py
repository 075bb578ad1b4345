"""Lines as HTML: a page, or a part of one, such as the output of a notebook's cell."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tfdbg_cli.document.exports.looks import BACK, FRONT, LOOKS
from tfdbg_cli.document.text import Line, Span
from tfdbg_cli.plain_text import safe

_FONT = "font-family:ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace;line-height:1.3"


def html_page(title: str, lines: Iterable[Line]) -> str:
    """A page of its own, which needs nothing else."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<title>{escape(safe(title))}</title>\n</head>\n<body style="margin:0;background:{BACK}">\n'
        f"{html_part(lines)}</body>\n</html>\n"
    )


def html_part(lines: Iterable[Line]) -> str:
    """A block for a page of somebody else's; it brings its colours with it."""
    rows = "\n".join("".join(map(_span, row.spans)).rstrip() for row in lines)
    style = f"margin:0;padding:1em;overflow-x:auto;color:{FRONT};background:{BACK};{_FONT}"
    return f'<pre style="{style}">\n{rows}\n</pre>\n'


def _span(span: Span) -> str:
    text, css = escape(span.text), LOOKS[span.style].css()
    return f'<span style="{css}">{text}</span>' if css and text.strip() else text
