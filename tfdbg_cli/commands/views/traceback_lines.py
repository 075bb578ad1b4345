"""A creation stack on the screen: the user's frames in full, those of libraries folded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from tfdbg_cli.commands.views.links import source_link
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.sources import Frame, Traceback, is_library
from tfdbg_cli.model.units import count_text

# An installed package, a module of Python itself, or this program.
_PACKAGE = re.compile(
    r"(?:site|dist)-packages/(?P<package>[^/]+)|^<frozen (?P<frozen>\w+)"
    r"|(?:^|/)lib/python3\.\d+/(?!(?:site|dist)-packages/)(?P<module>[^/]+)"
    r"|(?:^|/)(?P<own>tfdbg)(?:_cli/|$)|__(?P<generated>autograph)_generated_file"
)


def traceback_lines(traceback: Traceback, *, unfold: bool = False, unfold_link: str = "") -> list[Line]:
    """`traceback` from the outermost call to the innermost; each frame leads to its line of source.

    A run of library frames is one dim line that names the packages, unless `unfold`.
    """
    lines: list[Line] = []
    for library, group in groupby(traceback, key=lambda frame: is_library(frame.file)):
        frames = list(group)
        if library and not unfold:
            lines.append(line("  ", Span(folded_text(frames), Style.DIM, unfold_link)))
            continue
        for frame in frames:
            lines += _frame(frame, Style.DIM if library else Style.PLAIN)
    return lines


def folded_text(frames: Sequence[Frame]) -> str:
    """`12 frames in tensorflow, keras`."""
    packages = dict.fromkeys(_package(frame.file) for frame in frames)
    return f"{count_text(len(frames), 'frame')} in {', '.join(packages)}"


def _package(path: str) -> str:
    match = _PACKAGE.search(path.replace("\\", "/"))
    return match[match.lastgroup or 0].removesuffix(".py") if match else "python"


def _frame(frame: Frame, style: Style) -> list[Line]:
    place = f"{frame.file}:{frame.line}"
    name = Style.DIM if style is Style.DIM else Style.NAME
    head = line(
        "  ",
        Span(place, name, source_link(frame.file, frame.line)),
        Span(f" in {frame.function}", style),
    )
    return [head, line("    ", Span(frame.text.strip(), style))] if frame.text.strip() else [head]


def traceback_data(traceback: Traceback) -> list[dict[str, str | int]]:
    """The JSON form of `traceback`: {file, line, function, text}, outermost call first."""
    return [{"file": f.file, "line": f.line, "function": f.function, "text": f.text} for f in traceback]
