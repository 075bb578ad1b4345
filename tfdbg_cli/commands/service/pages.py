"""The pages of one stop, in the order in which they were opened, as a browser keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.text import Line

GOES_ON = "`over` goes on to the next line, `step` to the next op."
"""What to type, where a program runs, in the place of the `next` of a debugger: here it turns over pages."""


@dataclass(eq=False)
class Page:
    """One answer: the command that asked for it and its document.

    `run` is the index of the run that it is about, among those that can be looked at; `label` names it: `run #3`.
    """

    command: str
    document: Document
    run: int = 0
    label: str = "run"
    _laid_out: tuple[Document, int | None, Sequence[Line]] | None = field(default=None, init=False, repr=False)

    def lines(self, width: int | None, first: int = 0, count: int | None = None) -> Sequence[Line]:
        """`count` lines (None: all) from line `first` (from 0) on, laid out for `width` columns (None: unlimited).

        Fewer at the end. Only these lines are made, and the sample from which a table computes its column widths.
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
        """Whether every array here with that many dimensions shows its element at `index`, rather than eliding it."""
        arrays = [block for block in self.document.blocks if isinstance(block, ArrayBlock)]
        return all(block.shows(index) for block in arrays if block.array.ndim == len(index))

    def unfold(self) -> bool:
        """Show every element of the arrays here; False if none was elided."""
        if not any(isinstance(block, ArrayBlock) and block.elided for block in self.document.blocks):
            return False
        blocks = (block.whole() if isinstance(block, ArrayBlock) else block for block in self.document.blocks)
        self.document = replace(self.document, blocks=tuple(blocks))
        return True


class Pages:
    """The pages in the order in which they were opened, at most `most`; the one at index `at` is current."""

    def __init__(self, most: int) -> None:
        self.all: list[Page] = []
        self.at = -1
        self._most = most

    @property
    def current(self) -> Page:
        return self.all[self.at]

    def open(self, page: Page, *, replace: bool = False) -> None:
        """Make `page` current, after the current one or in its place. All later pages are dropped.

        A current page without a command is a placeholder until the first answer of a stop, and is replaced.
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
        """A function that restores the pages to their present state."""
        kept, at = list(self.all), self.at

        def back() -> None:
            self.all, self.at = kept, at

        return back

    @contextmanager
    def undone_by_error(self) -> Iterator[None]:
        """A context that restores the pages if it is left by an exception."""
        back = self.marked()
        try:
            yield
        except BaseException:
            back()
            raise
