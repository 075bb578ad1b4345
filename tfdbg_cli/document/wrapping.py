"""Paragraphs behind a label, wrapped to the width of the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.document.cells import wrapped
from tfdbg_cli.document.labels import LABEL_WIDTH, label_span
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.plain_text import printable


@dataclass(frozen=True)
class Labelled:
    """`label` in a column of its own, and beside it `text`, wrapped. Line ends in `text` are kept.

    `links` are names in it, each with the command string that it leads to; one that is longer than a line has none.
    """

    label: str
    text: str
    style: Style = Style.PLAIN
    label_width: int = LABEL_WIDTH
    links: tuple[tuple[str, str], ...] = ()

    def lines(self, width: int | None) -> Sequence[Line]:
        room = None if width is None else max(20, width - self.label_width)
        rows = [row for paragraph in self.text.split("\n") for row in _wrapped(paragraph, room)]
        blank = " " * self.label_width
        head = label_span(self.label, self.label_width)
        return [line(head if i == 0 else blank, *self._linked(row)) for i, row in enumerate(rows)]

    def _linked(self, row: str) -> Sequence[Span]:
        """`row` in spans, the names in it with their links."""
        links = {printable(name): link for name, link in self.links}
        if not links:
            return [Span(row, self.style)]
        longest_first = sorted(links, key=len, reverse=True)  # of names that begin alike
        whole = rf"(?<![\w/.:-])({'|'.join(map(re.escape, longest_first))})(?![\w/-]|\.\w)"
        return [Span(part, self.style, links.get(part, "")) for part in re.split(whole, row) if part]


def _wrapped(text: str, room: int | None) -> Sequence[str]:
    paragraph = printable(text.expandtabs())  # before it is cut, since an escape is wider than what it stands for
    if room is None:
        return [paragraph]
    # Names of tensors and paths must stay in one piece, also where they hold hyphens.
    return wrapped(paragraph, room, at_hyphens=False)
