"""The `ui:` actions that lend the terminal to another program: an editor at a line of source, a shell."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.actions.walking import Walking
from tfdbg_cli.tui.state.screen import Screen

# How editors are told the line, where it is not as in vi: by the name of the program.
_AT_LINE = {
    "code": ("--wait", "--goto", "{file}:{line}"),
    "hx": ("{file}:{line}",),
    "subl": ("--wait", "{file}:{line}"),
}
_AS_VI = ("+{line}", "{file}")
_NUMBERED = re.compile(r"\s*(\d+)")


class OutsidePrograms:
    """Other programs on the terminal of one screen."""

    def __init__(self, screen: Screen, walking: Walking) -> None:
        self._screen = screen
        self._state = screen.state
        self._walking = walking

    def edit(self) -> None:
        """Open $VISUAL or $EDITOR at the line of the page of source, or at the one that made the chosen tensor."""
        file, line = self._place()
        file = f"./{file}" if file.startswith("-") else file  # a name is no flag
        if not Path(file).exists():
            raise TfdbgError(f"{file} is not on this machine.", hint="`ps` shows the source that was kept.")
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        arguments = _AT_LINE.get(Path(editor[0]).name, _AS_VI)
        self._screen.lending.run([*editor, *(one.format(file=file, line=line) for one in arguments)])

    def shell(self) -> None:
        """Open $SHELL; its `exit` comes back."""
        self._screen.lending.run([os.environ.get("SHELL") or "/bin/sh"])

    def _place(self) -> tuple[str, int]:
        page = self._state.page
        if page.document.kind != "source":
            return self._walking.place()
        data = page.document.data()
        view = page.view
        numbers = (_NUMBERED.match(view.line(at).text) for at in range(view.selected, 0, -1))
        found = next((number for number in numbers if number is not None), None)
        return str(data["path"]), int(found[1]) if found is not None else int(data["line"])
