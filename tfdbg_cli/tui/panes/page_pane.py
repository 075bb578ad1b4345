"""The pane of the page on show: what the last command answered, or what one went back to."""

from __future__ import annotations

from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.keys.keymap import Binding
from tfdbg_cli.tui.panes.array_pane import ArrayPane
from tfdbg_cli.tui.panes.document_pane import DocumentPane
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.state.pane import Drawing
from tfdbg_cli.tui.state.state import ScreenState


class PagePane(DocumentPane):
    """The current one of the pages: its document, or its array where that is looked at in the viewer."""

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__(state, actions)
        self._array = ArrayPane(state, actions)

    @property
    def reading(self) -> Reading:
        return self._state.page

    @property
    def _viewing(self) -> bool:
        return self._state.viewed is not None

    @property
    def keys(self) -> tuple[Binding, ...]:
        return self._array.keys if self._viewing else super().keys

    def draw(self, cols: int, rows: int) -> Drawing:
        return self._array.draw(cols, rows) if self._viewing else super().draw(cols, rows)

    def scroll(self, lines: int) -> bool:
        return self._array.scroll(lines) if self._viewing else super().scroll(lines)

    def press(self, col: int, row: int) -> None:
        if self._viewing:
            self._array.press(col, row)
        else:
            super().press(col, row)

    def perform(self, name: str) -> None:
        self._array.perform(name)
