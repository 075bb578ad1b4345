"""A picture of a terminal program: runs it in a pseudo terminal, presses keys, draws its screen.

python tools/screenshot.py [--size 80x24] [--keys 'lt<enter>jj'] [--wait TEXT] OUTPUT.png|.svg CMD [ARG]...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from terminal_session import TerminalSession, split_keys

_FONTS = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    "/System/Library/Fonts/Menlo.ttc",
)
_COLOURS = {
    "black": "000000", "red": "cc4444", "green": "6aa84f", "brown": "c4a000", "blue": "3465a4",
    "magenta": "8f5fa0", "cyan": "3aa0a8", "white": "d3d7cf",
    "brightblack": "777777", "brightred": "ef6b6b", "brightgreen": "8ae234", "brightbrown": "fce94f",
    "brightblue": "729fcf", "brightmagenta": "ad7fa8", "brightcyan": "34e2e2", "brightwhite": "eeeeec",
}  # fmt: skip
_FRONT, _BACK = "d8d8d8", "16181d"
_MARGIN = 12
_BRAILLE = "\u2800"  # the first of 256 characters, one for each set of dots


@dataclass(frozen=True)
class Cell:
    """One or two columns of a screen: a character and how it looks."""

    col: int
    row: int
    width: int
    text: str
    front: str
    back: str
    bold: bool
    italics: bool
    underline: bool


def cells(session: TerminalSession, front: str, back: str) -> Iterator[Cell]:
    """The screen, cell by cell; the second half of a wide character is none."""
    screen = session.screen
    for row in range(screen.lines):
        for col in range(screen.columns):
            char = screen.buffer[row][col]
            if not char.data:
                continue
            wide = col + 1 < screen.columns and not screen.buffer[row][col + 1].data
            fore = front if char.fg == "default" else _COLOURS.get(char.fg, char.fg)
            ground = back if char.bg == "default" else _COLOURS.get(char.bg, char.bg)
            cursor = (col, row) == (screen.cursor.x, screen.cursor.y) and not screen.cursor.hidden
            if char.reverse != cursor:
                fore, ground = ground, fore
            yield Cell(
                col, row, 2 if wide else 1, char.data, fore, ground, char.bold, char.italics, char.underscore
            )  # fmt: skip


def font_path() -> Path:
    """A monospaced font of this machine; a sentence on how to get one when there is none."""
    for name in _FONTS:
        if Path(name).is_file():
            return Path(name)
    try:
        import matplotlib

        return Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSansMono.ttf"
    except ImportError:
        pass
    try:
        found = subprocess.run(["fc-match", "-f", "%{file}", "monospace"], capture_output=True, text=True, check=True)
        return Path(found.stdout)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("No monospaced font was found. Install fonts-dejavu (apt) or matplotlib, or write an .svg instead.")


def draw_png(session: TerminalSession, output: Path, size: int, front: str, back: str) -> None:
    """The screen as a PNG, `size` the height of its font in pixels."""
    from PIL import Image, ImageDraw, ImageFont

    path = font_path()
    font = ImageFont.truetype(str(path), size)
    bold_path = path.with_name(path.stem + "-Bold" + path.suffix)
    bold = ImageFont.truetype(str(bold_path), size) if bold_path.is_file() else font
    wide, high = round(font.getlength("M")), round(size * 1.25)
    cols, rows = session.screen.columns, session.screen.lines
    image = Image.new("RGB", (cols * wide + 2 * _MARGIN, rows * high + 2 * _MARGIN), f"#{back}")
    pen = ImageDraw.Draw(image)
    drawn = list(cells(session, front, back))
    for cell in drawn:
        x, y = _MARGIN + cell.col * wide, _MARGIN + cell.row * high
        pen.rectangle((x, y, x + wide * cell.width - 1, y + high - 1), fill=f"#{cell.back}")
    for cell in drawn:
        x, y = _MARGIN + cell.col * wide, _MARGIN + cell.row * high
        if _BRAILLE <= cell.text < chr(ord(_BRAILLE) + 256):  # few fonts have these
            for left, top in _dots(cell.text):
                at = x + wide * (1 + 2 * left) / 4, y + high * (1 + 2 * top) / 8
                pen.ellipse((at[0] - 1, at[1] - 1, at[0] + 1, at[1] + 1), fill=f"#{cell.front}")
        elif cell.text.strip():
            pen.text(
                (x, y + (high - size) // 2 - 1), cell.text, font=bold if cell.bold else font, fill=f"#{cell.front}"
            )
        if cell.underline:
            pen.line((x, y + high - 2, x + wide * cell.width - 1, y + high - 2), fill=f"#{cell.front}")
    image.save(output)


def _dots(char: str) -> Iterator[tuple[int, int]]:
    """The column and the row of each dot of a character in braille."""
    for bit, place in enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))):
        if (ord(char) - ord(_BRAILLE)) >> bit & 1:
            yield place


def draw_svg(session: TerminalSession, output: Path, size: int, front: str, back: str) -> None:
    """The screen as an SVG with real text; runs of one look are one element, stretched to their columns."""
    wide, high = size * 0.6, size * 1.25
    cols, rows = session.screen.columns, session.screen.lines
    width, height = cols * wide + 2 * _MARGIN, rows * high + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">',
        f'<rect width="100%" height="100%" rx="6" fill="#{back}"/>',
        f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{size}" xml:space="preserve">',
    ]
    for run in _runs(cells(session, front, back)):
        first, last = run[0], run[-1]
        x, y = _MARGIN + first.col * wide, _MARGIN + first.row * high
        length = (last.col + last.width - first.col) * wide
        if first.back != back:
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="{high:.1f}" fill="#{first.back}"/>'
            )
        text = "".join(cell.text for cell in run)
        if text.strip():
            look = ' font-weight="bold"' * first.bold + ' font-style="italic"' * first.italics
            look += ' text-decoration="underline"' * first.underline
            parts.append(
                f'<text x="{x:.1f}" y="{y + size:.1f}" fill="#{first.front}" textLength="{length:.1f}"{look}>'
                f"{escape(text)}</text>"
            )
    output.write_text("\n".join([*parts, "</g>", "</svg>", ""]), encoding="utf-8")


def _runs(drawn: Iterator[Cell]) -> Iterator[list[Cell]]:
    run: list[Cell] = []
    for cell in drawn:
        look = (cell.row, cell.front, cell.back, cell.bold, cell.italics, cell.underline)
        if run and look != (run[0].row, run[0].front, run[0].back, run[0].bold, run[0].italics, run[0].underline):
            yield run
            run = []
        run.append(cell)
    if run:
        yield run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="80x24", help="columns x rows")
    parser.add_argument("--keys", default="", help="keys to press, such as 'lt<enter>jj<ctrl p>'")
    parser.add_argument("--wait", default="", help="press no key before the screen shows this text")
    parser.add_argument("--font", type=int, default=16, help="height of the font in pixels")
    parser.add_argument("--light", action="store_true", help="draw on a light terminal")
    parser.add_argument("output", type=Path, help="a .png or .svg file")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    options = parser.parse_args()
    cols, rows = map(int, options.size.split("x"))
    session = TerminalSession(options.command, cols, rows)
    if options.wait:
        session.wait(options.wait, 120)
    session.settle()
    for key in split_keys(options.keys):
        session.child.send(key)
        session.settle()
    front, back = ("202020", "fbfbfb") if options.light else (_FRONT, _BACK)
    draw = draw_svg if options.output.suffix == ".svg" else draw_png
    draw(session, options.output, options.font, front, back)
    session.child.close(force=True)


if __name__ == "__main__":
    main()
