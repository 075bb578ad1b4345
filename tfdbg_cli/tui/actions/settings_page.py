"""The page of the settings, where Enter gives one its next value."""

from __future__ import annotations

from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.tui.state.screen import Screen

_CHANGES = frozenset({"set", "unset"})


def set_in_place(screen: Screen, setting: str) -> None:
    """Run the command `setting`, which changes a setting, and refresh the page of settings.

    If the page was itself opened by a command that changes one, running that again would undo the change: then
    `config` is shown instead.

    Raises:
        TfdbgError: the setting cannot be changed so.

    """
    state = screen.state
    here, command = state.page.view.selected, state.page.command
    state.service.execute(setting)

    def shown() -> None:
        state.page.view.go(here)

    changes = not _CHANGES.isdisjoint(parse_line(command).words)
    screen.command("config" if changes else command, replace=True, then=shown)
