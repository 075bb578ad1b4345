"""Going on from a run that a watch stopped at: asked first where the run would be gone, as leaving is."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.tui.keys.dialogs import going_on_question
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.state.screen import Screen

_LETS_GO = frozenset({"run", "continue", "ui:watch"})  # by a key or a link; typed it is meant, and by Alt-I, too
_STEPS = frozenset({"ui:step", "over"})  # in the middle of eager code they stay within its run


class GoingOn:
    """The question of one screen whether to go on, and what was about to be done."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._asked = ""
        self._agreed = False

    def asks(self, action: str) -> bool:
        """Whether `action` has to be asked for first; then the question is open now."""
        self._agreed = self._agreed or action == "ui:ignore"  # what was found is fine, so nobody will miss it
        service = self._screen.state.service
        lets_go = _LETS_GO if service.moment is Moment.PAUSED else _LETS_GO | _STEPS
        if self._agreed or action.split(" ", 1)[0] not in lets_go or not service.at_unsaved_hit:
            return False
        self._asked = action
        self._screen.state.open_dialog(going_on_question(), KeyContext.GO_ON)
        return True

    def agree(self) -> None:
        """Do what was asked for."""
        self._agreed = True
        self._screen.perform(self._asked)
