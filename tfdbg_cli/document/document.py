"""A document: what one command answered, for every front end."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import Line


class Block(Protocol):
    """A part of a document that can be laid out in lines."""

    def lines(self, width: int | None) -> Sequence[Line]:
        """The block in lines of at most `width` columns (None: as wide as it likes), made when indexed."""
        ...


@dataclass(frozen=True)
class Text:
    """Lines as they are; the front end wraps or clips them."""

    content: tuple[Line, ...]

    def lines(self, width: int | None) -> Sequence[Line]:
        return self.content


@dataclass(frozen=True)
class WithoutLinks:
    """A block whose links lead nowhere here, since it is about something else than this stop."""

    block: Block

    def lines(self, width: int | None) -> Sequence[Line]:
        """The lines of the block, styled as there, without links."""
        return [
            replace(line, spans=tuple(replace(span, link="") for span in line.spans))
            for line in self.block.lines(width)
        ]


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Document:
    """What a command answers.

    `kind` and `data()` are its JSON form, whose names are the program's interface (docs/commands.md);
    `blocks` its form on a screen. `data` is a function, since it may read every value of a run.
    `focus` is the line to show first (a source line, an element), counted over all blocks. `stays` is the number of a
    block that a screen with room for it keeps in sight above the rows of the last one, as a curve above its table.
    `lack` is the sentence that says why a document about one value does not show it.
    """

    kind: str
    blocks: tuple[Block, ...]
    data: Callable[[], Mapping[str, Any]] = field(default=_nothing)
    title: str = ""
    focus: int | None = None
    stays: int | None = None
    lack: str = ""

    def lines(self, width: int | None = None) -> Sequence[Line]:
        """All blocks, one after another, laid out for `width` columns."""
        parts = [block.lines(width) for block in self.blocks]
        return parts[0] if len(parts) == 1 else ChainedLines(parts)


class ChainedLines(LazyLines):
    """Several sequences of lines seen as one, none of them copied."""

    def __init__(self, parts: Sequence[Sequence[Line]]) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends: list[int] = []
        total = 0
        for part in self._parts:
            total += len(part)
            self._ends.append(total)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def line_at(self, index: int) -> Line:
        """The line at `index`; see LazyLines."""
        part = bisect.bisect_right(self._ends, index)
        return self._parts[part][index - (self._ends[part - 1] if part else 0)]


def text_document(kind: str, *lines: Line, data: Mapping[str, Any] | None = None, title: str = "") -> Document:
    """A document of plain lines; without `data` its JSON form holds them under `text`."""
    body = data if data is not None else {"text": [item.text for item in lines]}
    return Document(kind, (Text(lines),), lambda: body, title)
