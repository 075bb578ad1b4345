"""The pages of one stop, in the order in which they were opened, as a browser keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.text import Line


@dataclass(eq=False)
class Page:
    """One answer: the command that asked for it and its document.

    `run` is the index of the run it is about, of those that can be looked at, `label` its name: `run #3`.
    """

    command: str
    document: Document
    run: int = 0
    label: str = "run"
    _laid_out: tuple[Document, int | None, Sequence[Line]] | None = field(default=None, init=False, repr=False)

    def lines(self, width: int | None, first: int = 0, count: int | None = None) -> Sequence[Line]:
        """`count` lines from the line `first` on, laid out for `width` columns (None: as wide as they like).

        Fewer at the end, all that are left if `count` is None. Lines count from 0; no others are made than these
        and the sample by which a table chooses its widths.
        """
        lines = self._lines(width)
        begin = max(0, first)
        return lines[begin : len(lines) if count is None else begin + max(0, count)]

    def length(self, width: int | None) -> int:
        """How many lines there are at `width` columns."""
        return len(self._lines(width))

    def _lines(self, width: int | None) -> Sequence[Line]:
        """All lines, laid out once for each width; made when indexed."""
        if self._laid_out is None or self._laid_out[0] is not self.document or self._laid_out[1] != width:
            self._laid_out = self.document, width, self.document.lines(width)
        return self._laid_out[2]

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the arrays here leave out no element at `index`."""
        arrays = [block for block in self.document.blocks if isinstance(block, ArrayBlock)]
        return all(block.shows(index) for block in arrays if block.array.ndim == len(index))

    def unfold(self) -> bool:
        """Show every element of the arrays here; False: none was left out."""
        if not any(isinstance(block, ArrayBlock) and block.elided for block in self.document.blocks):
            return False
        blocks = (block.whole() if isinstance(block, ArrayBlock) else block for block in self.document.blocks)
        self.document = replace(self.document, blocks=tuple(blocks))
        return True


class Pages:
    """At most `most` pages one after another; one of them is current. Never empty once one was opened."""

    def __init__(self, most: int) -> None:
        self.all: list[Page] = []
        self.at = -1
        self._most = most

    @property
    def current(self) -> Page:
        return self.all[self.at]

    def open(self, page: Page, *, replace: bool = False) -> None:
        """Make `page` current, behind the current one or in its place. Pages ahead are forgotten.

        What stands there before the first answer of a stop is there belongs to no command, and goes with it.
        """
        keep = self.at if replace or (self.all and not self.current.command) else self.at + 1
        self.all[max(0, keep) :] = [page]
        if len(self.all) > self._most:
            del self.all[1]  # the first one is where the stop began
        self.at = len(self.all) - 1

    def go(self, at: int) -> bool:
        """Make the page numbered `at` current; False if there is none."""
        if not 0 <= at < len(self.all):
            return False
        self.at = at
        return True

    def marked(self) -> Callable[[], None]:
        """What puts the pages back as they are now."""
        kept, at = list(self.all), self.at

        def back() -> None:
            self.all, self.at = kept, at

        return back

    @contextmanager
    def undone_by_error(self) -> Iterator[None]:
        """Within it, an error puts the pages back as they were."""
        back = self.marked()
        try:
            yield
        except BaseException:
            back()
            raise
