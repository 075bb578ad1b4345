"""The pane of the page on show: what the last command answered, or what one went back to."""

from __future__ import annotations

from tfdbg_cli.tui.panes.document_pane import DocumentPane
from tfdbg_cli.tui.reading.reading import Reading


class PagePane(DocumentPane):
    """The current one of the pages."""

    @property
    def reading(self) -> Reading:
        return self._state.page
