"""What is copied from a screen to the clipboard of the terminal."""

from __future__ import annotations

from tfdbg_cli.document.cells import clip
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import count_text
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

_SHOWN = 100  # columns of what was copied that the message tells


class Clipboard:
    """The clipboard of the terminal of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def copy(self) -> None:
        """Copy the name of what is chosen; where nothing is, the line."""
        link = self._state.read.view.chosen
        self.put(link.name if link is not None else self._line)

    def copy_line(self) -> None:
        """Copy the line with the cursor."""
        self.put(self._line)

    @property
    def _line(self) -> str:
        view = self._state.read.view
        return view.line(view.selected).text.strip()

    def put(self, text: str) -> None:
        """Put `text` on the clipboard, and say so.

        Raises:
            TfdbgError: there is none, or it takes less.

        """
        if not text:
            self._screen.say(Message("There is nothing to copy on this line."))
        elif self._screen.lending.copy(text):
            self._screen.say(Message(f"Copied {count_text(len(text), 'character')}: {clip(printable(text), _SHOWN)}"))
        else:
            raise TfdbgError(
                f"{len(text)} characters are more than a terminal's clipboard takes.",
                hint="`COMMAND > FILE` writes a screen to a file.",
            )
