"""The pane beside the page: what is chosen there at a glance, made between two keys as one walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.document.document import Block, Document, Text, text_document
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line, lines_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.panes.document_pane import MARGINS, DocumentPane
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.state.state import ScreenState

_NOTHING = text_document("preview", line(Span("Nothing is chosen that has a preview.", Style.DIM)), title="preview")


def _sentence(error: TfdbgError) -> Document:
    return text_document("preview", *lines_of(error.message, Style.DIM), title="preview")


class PreviewPane(DocumentPane):
    """The preview of what is chosen on the page.

    It is asked for once the keys are answered; until it is there the one before stays. Whatever was still to be
    counted for that one is dropped with it.
    """

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__(state, actions)
        self._asked: object = None  # what the preview is of; see `_chosen`
        self._size = (0, 0)
        self._making: Iterator[float | None] | None = None  # goes on with that preview
        self._show(_NOTHING)

    marks_when_left = False  # what is chosen is the page's to show

    @property
    def reading(self) -> Reading:
        return self._reading

    @property
    def title(self) -> str:
        return "preview"

    @property
    def belongs(self) -> bool:
        """An array in its viewer has the whole screen."""
        return self._state.service.has_previews and self._state.viewed is None

    @property
    def _chosen(self) -> tuple[object, ...]:
        """What a preview is made for: the commands that make it, and what else it depends on."""
        service = self._state.service
        stepping = self._state.pages.current if service.moment is Moment.STEPPING else None  # each step tells more
        return service.run, stepping, service.previews(self._link)

    @property
    def running(self) -> bool:
        return self._chosen != self._asked or self._making is not None or super().running

    def work(self, enough: Callable[[], bool]) -> None:
        """Ask for the preview, count what its rows in sight lack, and draw its figures in sight."""
        chosen = self._chosen
        if chosen != self._asked:
            self._asked = chosen
            self._making = self._made(self._state.service.previews(self._link))
        for _ in self._making or ():
            if enough():
                return
        if self._making is not None:
            self._making = None
            if enough():
                return
        super().work(enough)

    @property
    def _link(self) -> str:
        """The link chosen on the page; on a line of source the first of what it made, which stands below it."""
        page = self._state.page
        link = page.view.chosen
        if link is None and page.document.kind == "source":
            link = next(iter(page.view.links(page.view.selected + 1)), None)
        return link.link if link is not None else ""

    def _made(self, commands: tuple[str, ...]) -> Iterator[float | None]:
        """Show what `commands` answer; what it takes may lie far away, and has to come first."""
        try:
            yield from in_steps(lambda: self._answered(commands))
        except TfdbgError as error:
            self._show(_sentence(error))
            self.fit(*self._size)

    def _answered(self, commands: tuple[str, ...]) -> Iterator[float | None]:
        """Show what `commands` answer, one below another; what cannot be shown says why."""
        documents: list[Document] = []
        for command in commands:
            yield from self._state.service.steps(command)
            documents.append(self._answer(command))
            yield None
        documents = documents or [_NOTHING]
        blocks: list[Block] = []
        for document in documents:
            blocks += [Text((EMPTY_LINE,))] * bool(blocks) + list(document.blocks)
        focus = documents[0].focus if len(documents) == 1 else None
        self._show(Document("preview", tuple(blocks), title="preview", focus=focus))
        self.fit(*self._size)

    def _answer(self, command: str) -> Document:
        try:
            found = self._state.service.execute(command)
        except TfdbgError as error:
            return _sentence(error)
        assert isinstance(found, Document), "a preview is a document"
        return found

    def _show(self, document: Document) -> None:
        self._page = Page("preview", document)  # kept here: a reading does not keep its page
        self._reading = Reading(self._page)

    def fit(self, cols: int, rows: int) -> None:
        self._size = cols, rows
        if cols > MARGINS:
            super().fit(cols, rows)
