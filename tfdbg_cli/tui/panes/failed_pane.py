"""What stands in the place of a pane in which tfdbg made a mistake."""

from __future__ import annotations

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.panes.document_pane import DocumentPane
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.state.bugs import bug_document
from tfdbg_cli.tui.state.state import ScreenState


class FailedPane(DocumentPane):
    """The report of the mistake."""

    def __init__(self, report: str, state: ScreenState, actions: Actions) -> None:
        super().__init__(state, actions)
        self._page = Page("", bug_document("drawing a pane", report))
        self._reading = Reading(self._page)

    @property
    def reading(self) -> Reading:
        return self._reading
