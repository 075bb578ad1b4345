"""The screens of one stop, in the order in which they were opened, as a browser keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Document
from tfdbg_cli.tui.finder import Finder
from tfdbg_cli.tui.viewport import Viewport

_MOST = 200


@dataclass
class Page:
    """A screen: the command that opened it, and where the person is in its document.

    `run` is the index of the run it is about, in a recording of several, `label` its name in the breadcrumbs.
    `sorted_by` is the number of the head link that the last `s` followed.
    """

    command: str
    document: Document
    run: int = 0
    label: str = "run"
    sorted_by: int = -1
    view: Viewport = field(init=False)
    finder: Finder = field(init=False)

    def __post_init__(self) -> None:
        self.view = Viewport(self.document)
        self.finder = Finder(self.view)

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the arrays here leave out no element at `index`."""
        arrays = [block for block in self.document.blocks if isinstance(block, ArrayBlock)]
        return all(block.shows(index) for block in arrays if block.array.ndim == len(index))

    def unfold(self) -> bool:
        """Show every element of the arrays here, and stay at the one that is selected; False: none was left out."""
        if not any(isinstance(block, ArrayBlock) and block.elided for block in self.document.blocks):
            return False
        before = self.view
        element = before.line(before.selected).element
        blocks = (block.whole() if isinstance(block, ArrayBlock) else block for block in self.document.blocks)
        self.document = replace(self.document, blocks=tuple(blocks))
        self.view = Viewport(self.document)
        self.view.resize(before.cols, before.rows)
        line = self.view.find_element(element) if element is not None else None
        self.view.top = before.top
        self.view.go(before.selected if line is None else line, centre=True)
        self.finder = Finder(self.view)
        return True


class Pages:
    """Screens one after another; one of them is current. Never empty once one was opened."""

    def __init__(self) -> None:
        self.all: list[Page] = []
        self.at = -1

    @property
    def current(self) -> Page:
        return self.all[self.at]

    def open(self, page: Page, *, replace: bool = False) -> None:
        """Make `page` current, behind the current one or in its place. Screens ahead are forgotten."""
        keep = self.at if replace else self.at + 1
        self.all[max(0, keep) :] = [page]
        if len(self.all) > _MOST:
            del self.all[1]  # the first one is where the stop began
        self.at = len(self.all) - 1

    def go(self, at: int) -> bool:
        """Make the screen numbered `at` current; False if there is none."""
        if not 0 <= at < len(self.all):
            return False
        self.at = at
        return True
