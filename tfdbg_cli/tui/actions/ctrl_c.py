"""Ctrl-C at the screen: the first ends what is going on there, the second asks how to leave, the third ends all."""

from __future__ import annotations

from tfdbg_cli.model.decision import Abort
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen


class CtrlCPresses:
    """What Ctrl-C means on one screen while no command runs, by what came before it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state
        self._second = False

    def forget(self) -> None:
        """Something else was done: the next Ctrl-C is a first one."""
        self._second = False

    def pressed(self) -> None:
        """Ctrl-C was pressed."""
        if self._state.place is KeyContext.LEAVE:
            self._screen.leave(Abort())
        if self._second:
            self._second = False
            self._screen.ask_to_leave()
            self._screen.say(Message("Ctrl-C again ends the program.", passing=True))
            return
        pending = self._state.pending
        self._end_what_goes_on()
        self._second = True
        again = "Ctrl-C again asks how to leave."
        if pending is not None:
            self._screen.say(Message(f"Stopped: {pending.words}.", hint=again))
        else:
            self._screen.say(Message(again, passing=True))

    def _end_what_goes_on(self) -> None:
        seeker = self._state.pages.all and self._state.seeker
        if self._screen.drop():
            return
        if self._state.filter is not None:
            self._screen.perform("ui:filter-cancel")
        elif seeker and seeker.running:
            seeker.halt()
        elif self._state.place is KeyContext.PROMPT and self._state.prompt.editor.text:
            self._state.prompt.editor.put("")
            self._state.prompt.touched()
        else:
            self._screen.perform("ui:close")
