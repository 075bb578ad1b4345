"""The `ui:` actions that fold and unfold the scopes of a tree, in the place of the page."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.commands.folds import fold_command, folds_at
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.reading.viewport import LINK_REACH
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.screen import Screen

_AT_ONCE = 200  # rows looked at between two chances to look at the keyboard


class Folding:
    """Folding on one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    def turn(self) -> None:
        """Toggle the scope of the selected row; if the row is no scope, fold the one around it.

        With a count N, unfold the scope by N levels, or fold the N-th scope outwards.

        Raises:
            TfdbgError: nothing folds here.

        """
        view, levels = self._state.page.view, max(1, self._state.count)
        found: tuple[str, int] | None = None
        for link, scope, line in self._scopes_around(view.selected):
            if line == view.selected and "--unfold" in parse_line(link).words:
                self.follow(fold_command(self._state.page.command, scope, False, levels), line)
                return
            found, levels = (link, line), levels - 1
            if not levels:
                break
        if found is None:
            self._state.service.list_commands.folded(is_open=True)  # raises the error for a page without any scopes
            raise TfdbgError("This row has nothing within it, and no scope around it that folds.")
        self.follow(*found)

    def _scopes_around(self, selected: int) -> Iterator[tuple[str, str, int]]:
        """The scope of the row at `selected`, if it is one, then those around it: link that folds it, name, line."""
        links = self._state.page.view.links
        words = {word for link in links(selected) for word in parse_line(link.link).words}
        for line in range(selected, max(-1, selected - LINK_REACH), -1):
            for link in links(line):
                scope = folds_at(link.link)
                if scope and (line == selected or any(word.startswith(f"{scope}/") for word in words)):
                    yield link.link, scope, line
                    break

    def turn_all(self, *, is_open: bool) -> None:
        """Fold every scope if `is_open`, else unfold every scope; keeps the chosen row, or the one it is folded into.

        Raises:
            TfdbgError: nothing folds here.

        """
        view, command = self._state.page.view, self._state.service.list_commands.folded(is_open)
        around = list(self._scopes_around(view.selected))
        target = "" if view.chosen is None else view.chosen.link
        if around and (is_open or around[0][2] == view.selected):
            target = around[-1 if is_open else 0][1]
        steps = self._looked_for(target) if target else iter(())
        self._screen.command(
            command,
            replace=True,
            then=lambda: self._screen.begin(PendingAnswer("looking for the row", steps, _nothing)),
        )

    def _looked_for(self, target: str) -> Iterator[float]:
        """Go to the row that folds the scope `target`, or has it as a link; in steps that yield the share done."""
        view = self._state.page.view
        before, count = view.selected, len(view.lines)
        for line in range(count):
            if any(target in (folds_at(link.link), link.link) for link in view.links(line)):
                view.go(line, centre=True)
                return
            if line % _AT_ONCE == _AT_ONCE - 1:
                yield line / count
                if view.selected != before:  # the user has gone elsewhere
                    return

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


def _nothing() -> None:
    """The `finish` of a Pending whose steps do everything."""
