"""Choosing the front end: the full screen where a terminal can show it, else the line prompt."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from tfdbg_cli.analysis.filters import BUILT_IN_FILTERS, TensorFilter
from tfdbg_cli.config import Settings, load_settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.frontend import Frontend
from tfdbg_cli.line.output import to_stderr
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import Decision, Detach
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.terminal_facts import terminal_facts

# The names of TensorFlow's tfdbg stay good.
_NAMES = {"tui": "tui", "curses": "tui", "line": "line", "readline": "line", "none": "none", "auto": ""}


@dataclass(frozen=True)
class Launch:
    """What a person asked of every front end of this process on the command line of `tfdbg`.

    `ui` is "" where they left the choice. `script` holds the `-c` commands, fed to whichever prompt is open; None
    without any. `output` is where answers go, whatever the program does to sys.stdout meanwhile.
    """

    ui: str = ""
    script: Script | None = None
    json: bool = False
    output: TextIO | None = None


_launch = Launch()
_said: set[str] = set()


def set_launch(launch: Launch) -> Launch:
    """Make `launch` hold for every front end chosen from now on; gives back the one before."""
    global _launch
    before, _launch = _launch, launch
    return before


def ui_name(name: str | None) -> str:
    """The front end that `name` means: "tui", "line", "none", or "" for a free choice.

    Raises:
        TfdbgError: there is no such front end.

    """
    if not name:
        return ""
    if name not in _NAMES:
        raise TfdbgError(
            f"There is no front end {name!r}.", hint=did_you_mean(name, _NAMES) or "Use tui, line or none."
        )
    return _NAMES[name]


def choose_frontend(
    ui: str | None = None,
    *,
    filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
    settings: Settings | None = None,
    commands: Sequence[str] = (),
    json: bool = False,
) -> Frontend:
    """The front end for one session (or recording): what the person asked for, as far as the terminal can do it.

    The command line of `tfdbg` counts most, then the variable TFDBG_UI, then `ui` (the program's own wish). Of
    "tui", "line", "none"; "curses" and "readline" are other names for the first two; None leaves the choice.
    `filters` is looked into at every stop, so filters may be added later. `commands` are run instead of asking.

    Raises:
        TfdbgError: there is no front end of that name.

    """
    launch = _launch
    script = Script(commands) if commands else launch.script
    wanted = launch.ui or ui_name(os.environ.get("TFDBG_UI")) or ui_name(ui)
    settings = settings if settings is not None else _settings()
    json = json or launch.json
    if script is None and wanted == "none":
        return NoFrontend()
    if script is None and not json and wanted != "line":
        obstacle = terminal_facts().obstacle(chosen=wanted == "tui")
        if not obstacle:
            return _full_screen(filters, settings)
        _say(f"The line prompt is used, since {obstacle}.")
    return _line(filters, settings, script, json, launch.output)


class NoFrontend:
    """Asks nobody: the program runs as if the debugger were not there (`--ui none`)."""

    def stop(self, event: Stop) -> Decision:
        return Detach()

    def notify(self, message: str) -> None:
        to_stderr(message)


def _full_screen(filters: Mapping[str, TensorFilter], settings: Settings) -> Frontend:
    # urwid is loaded for the full screen only.
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.tui.frontend import TuiFrontend

    return TuiFrontend(standard_registry(), settings, filters)


def _line(
    filters: Mapping[str, TensorFilter], settings: Settings, script: Script | None, json: bool, output: TextIO | None
) -> Frontend:
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.line.frontend import LineFrontend

    return LineFrontend(standard_registry(), settings, filters, script=script, json=json, output=output)


def _settings() -> Settings:
    settings, warnings = load_settings()
    for warning in warnings:
        _say(warning)
    return settings


def _say(sentence: str) -> None:
    """Say `sentence` on standard error, once in a process."""
    if sentence not in _said:
        _said.add(sentence)
        to_stderr(sentence)
