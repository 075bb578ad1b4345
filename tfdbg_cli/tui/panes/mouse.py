"""What a click or the wheel means: to the pane at its place, to a border, and where nobody wants it."""

from __future__ import annotations

from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.keys.keymap import KeyContext, key_for
from tfdbg_cli.tui.panes.view import View
from tfdbg_cli.tui.state.pane import WHEEL
from tfdbg_cli.tui.state.state import ScreenState

_BUTTONS = {"wheel up": 4, "wheel down": 5}


class Mouse:
    """Turns mouse events into what the panes of `view` make of them."""

    def __init__(self, state: ScreenState, view: View, actions: Actions) -> None:
        self._state = state
        self._view = view
        self._actions = actions
        self._dragging = False  # the border between two panes

    def event(self, what: str, col: int, row: int) -> str:
        """Do what the event means. Gives a sentence when it means nothing, empty otherwise."""
        if what in _BUTTONS:
            button = _BUTTONS[what]
            if not self._view.press(col, row, button):
                self._state.front.scroll(WHEEL[button])
        elif what == "button 1" and self._view.on_border(col, row):
            self._dragging = True
        elif self._dragging:
            share = self._view.dragged(col, row)
            if what == "drag":
                self._actions.sharing.show(share)
            else:
                self._dragging = False
                self._actions.sharing.keep(share)
        elif what == "drag":
            key = key_for("ui:mouse", KeyContext.DOCUMENT, self._state.service.moment, self._state.own_bindings)
            way = f"press {key}" if key else "type `mouse off`"
            return f"Hold Shift to select text, or {way} to give the mouse back to the terminal."
        elif what == "button 1" and not self._view.press(col, row) and self._state.dialog is not None:
            self._actions.close()  # outside of it
        return ""
