"""What a click or the wheel means at a place of the screen."""

from __future__ import annotations

from tfdbg_cli.tui.actions import Actions
from tfdbg_cli.tui.keymap import KeyContext
from tfdbg_cli.tui.paint import LinkPlace, links_of
from tfdbg_cli.tui.state import State
from tfdbg_cli.tui.view import GUTTER, View
from tfdbg_cli.tui.viewport import Viewport

_WHEEL = 3  # lines


class Mouse:
    """Turns mouse events into actions of `actions` on the screen that `view` drew."""

    def __init__(self, state: State, view: View, actions: Actions) -> None:
        self._state = state
        self._view = view
        self._actions = actions

    def event(self, what: str, col: int, row: int) -> str:
        """Do what the event means. Gives a sentence when it means nothing, empty otherwise."""
        if what.startswith("wheel"):
            self._state.front.scroll(_WHEEL if what == "wheel down" else -_WHEEL)
        elif what == "drag":
            return "Hold Shift to select text, or press m to give the mouse back to the terminal."
        elif what == "button 1" and self._view.layout is not None:
            self._press(col, row)
        return ""

    def _press(self, col: int, row: int) -> None:
        if self._state.dialog is not None:
            self._press_dialog(self._state.dialog.view, col, row)
            return
        layout = self._view.layout
        if layout is not None and layout.body_top <= row < layout.body_top + layout.body:
            self._press_body(col, row - layout.body_top, layout.body)
        elif layout is not None and row == layout.prompt_row:
            self._actions.perform("ui:prompt")
        elif row in self._view.links:
            found = link_at(links_of(self._view.links[row]), col)
            if found is not None:
                self._actions.follow(found[1])

    def _press_body(self, col: int, row: int, rows: int) -> None:
        view = self._state.page.view
        if self._state.place is not KeyContext.DOCUMENT:
            self._actions.close()
        if col >= view.cols + GUTTER:
            _jump(view, row, rows)
            return
        shown = view.visible()
        if row >= len(shown):
            return
        index = shown[row]
        found = link_at(view.links(index), col - GUTTER + view.left)
        if found is None:
            view.choose(index, None)
            return
        if index != view.pinned and not found[1].heading:  # a head sorts, and the chosen row stays chosen
            view.choose(index, found[0])
        self._actions.follow(found[1])

    def _press_dialog(self, view: Viewport, col: int, row: int) -> None:
        left, top, wide, high = self._view.dialog_place(*self._view.size)
        if not (left <= col < left + wide and top <= row < top + high):
            self._actions.close()
            return
        shown = view.visible()
        at = row - top - 1
        if 0 <= at < len(shown) and view.links(shown[at]):
            view.choose(shown[at], 0)
            self._actions.perform("ui:follow")


def link_at(links: list[LinkPlace], column: int) -> tuple[int, LinkPlace] | None:
    """The link at the column, with its number on the line."""
    return next(((i, link) for i, link in enumerate(links) if link.start <= column < link.end), None)


def _jump(view: Viewport, row: int, rows: int) -> None:
    """The part of the document that the place on the track stands for."""
    last = max(0, len(view.lines) - rows)
    view.scroll(round(last * row / max(1, rows - 1)) - view.top)
