"""The `ui:` actions that fold and unfold the scopes of a tree, in the place of the page."""

from __future__ import annotations

from tfdbg_cli.commands.folds import folds_at
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.control.screen import Screen
from tfdbg_cli.tui.reading.viewport import LINK_REACH


class Folding:
    """Folding on one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def turn(self) -> None:
        """Fold the scope of the selected row, or unfold it; of a row that is none fold the scope around it.

        Raises:
            TfdbgError: nothing folds here.

        """
        view = self._state.page.view
        links = view.links(view.selected)
        words = {word for link in links for word in parse_line(link.link).words}
        for line in range(view.selected, max(-1, view.selected - LINK_REACH), -1):
            for link in view.links(line):
                scope = folds_at(link.link)
                if scope and (line == view.selected or any(word.startswith(f"{scope}/") for word in words)):
                    self.follow(link.link, line)
                    return
        raise TfdbgError("Nothing folds here.", hint="`layers` and `tree` have scopes that do.")

    def _row(self, scope: str, line: int) -> int:
        """The line of `scope`, near `line`: what stands above the rows may have become longer or shorter."""
        links = self._state.page.view.links
        near = (line, line - 1, line + 1, line - 2, line + 2)
        return next((at for at in near if any(folds_at(link.link) == scope for link in links(at))), line)

    def follow(self, command: str, line: int) -> None:
        """Show the list as `command` folds it; the row at `line` stays chosen, and stays where it is."""
        view = self._state.page.view
        top, link = view.top, view.link if line == view.selected else None

        def shown() -> None:
            found = self._state.page.view
            here = self._row(folds_at(command), line)
            found.top = top + here - line
            known = len(found.links(here))
            found.choose(here, link if link is not None and link < known else None)

        self._screen.command(command, replace=True, then=shown)
