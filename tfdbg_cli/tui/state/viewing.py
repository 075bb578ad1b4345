"""The array viewers of a stop: which pages are shown in one, and which array of a page."""

from __future__ import annotations

from itertools import pairwise
from weakref import WeakKeyDictionary, WeakSet

from tfdbg_cli.analysis.batch.components import looks_like_image
from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Text
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.array.number_style import NumberStyle
from tfdbg_cli.tui.array.viewer import Viewer, ViewMode
from tfdbg_cli.tui.reading.reading import Reading

_PRINTED = frozenset({"tensor", "feed"})  # kinds of pages that print one value


class Viewers:
    """The viewer of each page that has one, for as long as the page exists.

    A page is shown as text or in its viewer, and keeps the viewer when it is shown as text again. Each can be asked
    for in the other, and leads back to it.
    """

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Page, Viewer] = WeakKeyDictionary()
        self._shown: WeakKeyDictionary[Page, bool] = WeakKeyDictionary()  # in its viewer, and whether from its text
        self._left: WeakSet[Page] = WeakSet()  # for the text, which was asked for in the viewer

    def of(self, page: Page) -> Viewer | None:
        """The viewer in which `page` is shown; None if it is shown as text."""
        return self._of[page] if page in self._shown else None

    def leads_back(self, page: Page) -> bool:
        """Whether `page` was asked for as it is shown, in its viewer or as text, where it was shown the other way."""
        return self._shown.get(page, page in self._left)

    def back(self, reading: Reading, settings: Settings) -> None:
        """Show a page of which that holds the other way again."""
        if reading.page in self._shown:
            self.close(reading.page)
        else:
            self.open(reading, settings, from_text=False)

    def open(self, reading: Reading, settings: Settings, *, from_text: bool) -> Viewer:
        """Show the array of a page in its viewer: at the element on the selected line if it comes `from_text`.

        Raises:
            TfdbgError: there is no array on the page, or nothing in it.

        """
        page, view = reading.page, reading.view
        block = _array_of(reading)
        if block is None:
            hint = reading.document.lack or "`pt NAME` shows one; v opens it."
            raise TfdbgError("There is no array here to look at.", hint=hint)
        if not block.array.size:
            raise TfdbgError("There is nothing to look at: the array has no elements.")
        viewer = self._of.get(page)
        if viewer is None or viewer.array is not block.array:
            name = block.name or reading.document.title.removeprefix("pt ")
            facts = _facts(reading, block)
            style = NumberStyle(settings.precision, settings.suppress)
            viewer = self._of[page] = Viewer(block.array, name, settings.array_threshold, style, facts)
            if reading.document.kind == "row" and looks_like_image(block.array):
                viewer.show(ViewMode.PICTURE)
            if block.begin is not None:
                viewer.go(block.begin)
        element = view.line(view.selected).element
        if from_text and element is not None and len(element) == block.array.ndim:
            viewer.go(element)
        self._shown[page] = from_text
        self._left.discard(page)
        return viewer

    def begin(self, reading: Reading, settings: Settings) -> None:
        """Show a new page in the viewer if it prints a single value of two or more axes.

        Not if the setting `values` is another one, or the command had flags that apply to text only.
        """
        blocks = [block for block in reading.document.blocks if isinstance(block, ArrayBlock)]
        if settings.values != "viewer" or reading.document.kind not in _PRINTED or len(blocks) != 1:
            return
        array = blocks[0].array
        if array.ndim > 1 and array.size and not blocks[0].as_text:
            self.open(reading, settings, from_text=False)

    def resemble(self, before: Viewer | None, reading: Reading, settings: Settings) -> None:
        """Show a page as another one was shown: in a viewer set up like `before`, or as text if that is None."""
        if before is None:
            self.close(reading.page)
        else:
            self.open(reading, settings, from_text=False).resembles(before)

    def close(self, page: Page) -> None:
        """Show `page` as text again."""
        self._shown.pop(page, None)

    def leave(self, page: Page) -> None:
        """Show `page`, now in its viewer, as text: again, or else with a way back to the viewer."""
        if not self._shown.pop(page):
            self._left.add(page)


def _facts(reading: Reading, block: ArrayBlock) -> Line | None:
    """The line right before the elements of a printed value, which tells its health; None if there is none."""
    if reading.document.kind not in _PRINTED:
        return None
    blocks = reading.document.blocks
    before = next(before for before, one in pairwise((None, *blocks)) if one is block)
    said = [line for line in before.content if line.text] if isinstance(before, Text) else []
    return said[0] if len(said) == 1 else None  # several are a table, of which no line stands alone


def _array_of(reading: Reading) -> ArrayBlock | None:
    """The array on whose lines the user is, or else the first one of the page."""
    found: ArrayBlock | None = None
    selected = reading.view.selected
    for block, part in zip(reading.document.blocks, reading.view.parts, strict=True):
        if isinstance(block, ArrayBlock) and (found is None or part.start <= selected):
            found = block
    return found
