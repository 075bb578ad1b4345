"""A page being read: where the user is in its document, and what is searched for in it."""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.document.document import Document
from tfdbg_cli.tui.reading.figures import Figures
from tfdbg_cli.tui.reading.late_cells import LateCells
from tfdbg_cli.tui.reading.match_walk import MatchWalk
from tfdbg_cli.tui.reading.viewport import Viewport


class Reading:
    """One page on a screen. `sorted_by` is the number of the head link that the last `s` followed."""

    def __init__(self, page: Page) -> None:
        self._page = ref(page)  # the pages decide how long it is kept, and what it takes with it
        self.sorted_by = -1
        self.view = Viewport(page.document)
        self.seeker = MatchWalk(self.view)
        self.late = LateCells(self.view)
        self.figures = Figures(self.view)

    @property
    def page(self) -> Page:
        """What is read."""
        page = self._page()
        assert page is not None, "the page was given up"
        return page

    @property
    def command(self) -> str:
        return self.page.command

    @property
    def document(self) -> Document:
        return self.page.document

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the arrays here leave out no element at `index`."""
        return self.page.shows(index)

    def unfold(self) -> bool:
        """Show every element of the arrays here, and stay at the one that is selected; False: none was left out."""
        if not self.page.unfold():
            return False
        before = self.view
        element = before.line(before.selected).element
        self.view = Viewport(self.document)
        self.view.resize(before.cols, before.rows)
        line = self.view.find_element(element) if element is not None else None
        self.view.top = before.top
        self.view.go(before.selected if line is None else line, centre=True)
        self.seeker = MatchWalk(self.view)
        self.late = LateCells(self.view)
        self.figures = Figures(self.view)
        return True

    def renew(self, document: Document) -> None:
        """Read a later state of the document, from the same place on; a search in it goes on."""
        self.page.document = document
        self.view.renew(document)
        self.seeker.relaid()
        self.late = LateCells(self.view)
        self.figures = Figures(self.view)


class Readings:
    """How each page is read; what is known of a page goes when the page goes."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Page, Reading] = WeakKeyDictionary()

    def of(self, page: Page) -> Reading:
        """The reading of `page`, begun when it is first asked for."""
        found = self._of.get(page)
        if found is None:
            found = self._of[page] = Reading(page)
        return found
