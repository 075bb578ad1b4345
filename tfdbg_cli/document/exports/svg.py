"""Lines as a picture: SVG 1.1, text as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from tfdbg_cli.document.cells import display_width
from tfdbg_cli.document.exports.looks import BACK, FRONT, LOOKS, Look
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.plain_text import safe

_SIZE, _ACROSS, _DOWN, _MARGIN = 14.0, 8.43, 18.0, 12.0  # of a letter, in pixels
_FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_MOST_LINES = 2_000  # more than that nobody looks at in a picture, and viewers take their time
_TAB = 8


def svg_picture(title: str, lines: Iterable[Line]) -> str:
    """A picture of its own. Each span has the width that its characters have on a terminal, whatever the font.

    Raises:
        TfdbgError: there are more lines than a picture can show.

    """
    rows: list[str] = []
    widest = down = 0
    for line in lines:
        if down == _MOST_LINES:
            raise TfdbgError(
                f"A picture shows {_MOST_LINES:,} lines at most.",
                hint="Write to .html or .txt, or choose fewer rows.",
            )
        at = 0
        for text, look in _pieces(line):
            columns = display_width(text)
            rows += _drawn(text, look, at, columns, down)
            at += columns
        widest, down = max(widest, at), down + 1
    width, height = 2 * _MARGIN + widest * _ACROSS, 2 * _MARGIN + down * _DOWN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}">\n<title>{escape(safe(title), quote=False)}</title>\n'
        f'<rect width="100%" height="100%" fill="{BACK}"/>\n'
        f'<g font-family="{escape(_FONT)}" font-size="{_SIZE:g}" fill="{FRONT}" xml:space="preserve">\n'
        + "".join(f"{row}\n" for row in rows)
        + "</g>\n</svg>\n"
    )


def _pieces(line: Line) -> Iterator[tuple[str, Look]]:
    """What stands on a line, blanks in the place of tabs."""
    at = 0
    for span in line.spans:
        text = span.text
        while "\t" in text:
            start = text.index("\t")
            gap = _TAB - (at + display_width(text[:start])) % _TAB
            text = f"{text[:start]}{' ' * gap}{text[start + 1 :]}"
        at += display_width(text)
        yield text, LOOKS[span.style]


def _drawn(text: str, look: Look, column: int, columns: int, row: int) -> Iterator[str]:
    x, y = _MARGIN + column * _ACROSS, _MARGIN + row * _DOWN
    if look.back:
        yield f'<rect x="{x:.2f}" y="{y:.2f}" width="{columns * _ACROSS:.2f}" height="{_DOWN:g}" fill="{look.back}"/>'
    blanks = len(text) - len(text.lstrip(" "))
    text = text.strip(" ")
    if not text:
        return
    parts = [f'x="{x + blanks * _ACROSS:.2f}"', f'y="{y + _SIZE:.2f}"']
    parts += [f'textLength="{display_width(text) * _ACROSS:.2f}"', 'lengthAdjust="spacingAndGlyphs"']
    parts += [f'fill="{look.front}"'] if look.front else []
    parts += ['font-weight="bold"'] if look.bold else []
    parts += ['font-style="italic"'] if look.italic else []
    parts += ['text-decoration="underline"'] if look.underline else []
    yield f"<text {' '.join(parts)}>{escape(text, quote=False)}</text>"
