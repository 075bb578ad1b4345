"""What the actions of keys and clicks may ask of the screen on which they act."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from tfdbg_cli.model.decision import Decision
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.state import ScreenState
from tfdbg_cli.tui.terminal.lending import Lending


class Screen(Protocol):
    """One screen: its state, and what can be done with it.

    `at_once` are the seconds that work may take before a frame is drawn; what is left of it goes on between two keys.
    `lending` lends the terminal to what needs it whole.
    """

    state: ScreenState
    at_once: float
    lending: Lending

    def command(self, text: str, *, replace: bool = False, then: Callable[[], None] = lambda: None) -> None:
        """Carry out a command and show what it answers, on a new page or in place of this one.

        What takes its time goes on between two keys; `then` is called when the answer is shown.
        """
        ...

    def begin(self, pending: PendingAnswer) -> None:
        """Make an answer, in the place of the one under way: at once if that is quick, else between two keys."""
        ...

    def drop(self) -> bool:
        """Give up the answer that is under way; False where there is none."""
        ...

    def perform(self, action: str) -> None:
        """Do what a link, a key or a user's command asks for; an error becomes a message."""
        ...

    def leave(self, decision: Decision) -> None:
        """Close the screen with that decision."""
        ...

    def ask_to_leave(self) -> None:
        """Ask how to leave, where leaving loses something."""
        ...

    def say(self, message: Message | None) -> None:
        """Show a message for a while, or none."""
        ...

    def busy(self) -> AbstractContextManager[None]:
        """Within it, work may take time: the screen says so."""
        ...

    def go_on(self) -> None:
        """Go on, between two keys, with the search or the filter that was begun."""
        ...

    def set_mouse(self, on: bool) -> None:
        """Take the mouse, or give it back to the terminal."""
        ...

    def redraw(self) -> None:
        """Draw everything anew."""
        ...
