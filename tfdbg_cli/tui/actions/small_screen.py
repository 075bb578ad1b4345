"""A screen too small for anything but a sentence: what that says, and the keys that count there: those of leaving."""

from __future__ import annotations

from tfdbg_cli.tui.keys.dialogs import LEAVING
from tfdbg_cli.tui.keys.keymap import KeyContext, key_name
from tfdbg_cli.tui.state.screen import Screen

_WAY_OUT = "q"


class SmallScreen:
    """One screen while it has no room. Other keys than those that its words name do nothing: nobody would see it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def pressed(self, key: str) -> None:
        """A key was pressed: it asks how to leave, or answers that."""
        if self._state.place is KeyContext.LEAVE:
            for answer in LEAVING:
                if key in answer.keys:
                    self._screen.perform(answer.action)
        elif key == _WAY_OUT:
            self._screen.perform("ui:close")
            self._screen.ask_to_leave()

    def words(self, needed: tuple[int, int], size: tuple[int, int]) -> str:
        """What it says at `size`, where `needed` columns and rows would do: what is wrong, or how one can leave."""
        if self._state.place is KeyContext.LEAVE:
            answers = ", ".join(f"{key_name(answer.keys[0])}: {answer.help}" for answer in LEAVING)
            return f"Leave? {answers}."
        closes = self._state.service.recording is not None
        way_out = f"{_WAY_OUT} {'closes the recording' if closes else 'asks how to leave'}."
        (cols, rows), (wide, high) = needed, size
        return f"tfdbg needs a screen of at least {cols} by {rows}; this one is {wide} by {high}. {way_out}"
