"""Choosing the front end: the full screen where a terminal can show it, else the line prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.api.attendance import wanted
from tfdbg_cli.api.launch_options import LaunchOptions, launch_options
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import Decision, Detach, OnHit, Outcome, RunUntil
from tfdbg_cli.model.runs import RunStart, Stop
from tfdbg_cli.process.streams import to_stderr
from tfdbg_cli.terminal_facts import terminal_facts

if TYPE_CHECKING:
    from tfdbg_cli.debugger.frontend import Frontend
    from tfdbg_cli.remote.seat import Seat


_said: set[str] = set()
_warnings: list[str] = []  # of the file of settings


def choose_frontend(
    ui: str | None = None,
    *,
    filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
    settings: Settings | None = None,
    commands: Sequence[str] = (),
    json: bool = False,
) -> Frontend:
    """The front end for one session (or recording): what the user asked for, as far as the terminal can do it.

    The command line of `tfdbg` counts most, then the variable TFDBG_UI, then `ui` (the program's own wish). Of
    "tui", "line", "none"; "curses" and "readline" are other names for the first two; None leaves the choice.
    `filters` is looked into at every stop, so filters may be added later. `commands` are run instead of asking.

    Raises:
        TfdbgError: there is no front end of that name.

    """
    options = launch_options()
    script = Script(commands) if commands else options.script
    name = wanted(ui)
    settings = settings if settings is not None else user_settings()
    if options.seat is not None:
        return _remote(options, options.seat, filters, settings)
    chosen = _chosen(name, script, filters, settings, json or options.json)
    return Until(chosen, options.until) if options.until else chosen


def _chosen(
    name: str, script: Script | None, filters: Mapping[str, TensorFilter], settings: Settings, json: bool
) -> Frontend:
    if script is None and name == "none":
        return NoFrontend(settings)
    if launch_options().on_hit is OnHit.NONE:
        return _line(filters, settings, script, json, "", "--on-hit none lets nobody be asked")
    reason = ""
    if script is None and not json and name != "line":
        reason = terminal_facts().obstacle(chosen=name == "tui")
        if not reason:
            return _full_screen(filters, settings)
    if reason in _said:
        reason = ""
    _said.add(reason)
    return _line(filters, settings, script, json, reason)


class Until:
    """Answers the first stop, if it comes before a run, with `run -f FILTER`, and hands all others to `frontend`."""

    def __init__(self, frontend: Frontend, first: RunUntil) -> None:
        self._frontend = frontend
        self._first: Decision | None = first

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._frontend.settings

    @property
    def failures(self) -> int:
        """How many commands did not work without a user to mend them."""
        return self._frontend.failures

    @property
    def broken(self) -> bool:
        """Whether nobody reads the output any more."""
        return self._frontend.broken

    def stop(self, event: Stop) -> Outcome:
        decision, self._first = self._first, None
        return self._frontend.stop(event) if decision is None or not isinstance(event, RunStart) else decision

    def notify(self, message: str) -> None:
        self._frontend.notify(message)


class NoFrontend:
    """Detaches at the first stop, so that the program runs undebugged (`--ui none`)."""

    failures = 0
    broken = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def stop(self, event: Stop) -> Decision:
        return Detach()

    def notify(self, message: str) -> None:
        to_stderr(message)


def _full_screen(filters: Mapping[str, TensorFilter], settings: Settings) -> Frontend:
    from tfdbg_cli.api.screen_beside import finish_loading

    finish_loading()
    # urwid is loaded for the full screen only.
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.tui.frontend import TuiFrontend

    return TuiFrontend(standard_registry(), settings, filters, notes=_warnings)


def _line(
    filters: Mapping[str, TensorFilter],
    settings: Settings,
    script: Script | None,
    json: bool,
    reason: str,
    silence: str = "",
) -> Frontend:
    """The line prompt; `reason` says why it is not the full screen, `silence` why nobody is asked there."""
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.line.frontend import LineFrontend
    from tfdbg_cli.line.input import NoInput

    options = launch_options()
    return LineFrontend(
        standard_registry(),
        settings,
        filters,
        script=script,
        source=NoInput(silence) if silence else None,
        json=json,
        output=options.output,
        reason=reason,
        looked_after=options.until is None and (options.rules is not None or options.trends > 0),
        check=_of_the_screen,
    )


def _remote(options: LaunchOptions, seat: Seat, filters: Mapping[str, TensorFilter], settings: Settings) -> Frontend:
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.line.frontend import LineFrontend
    from tfdbg_cli.line.input import NoInput
    from tfdbg_cli.remote.frontend import RemoteFrontend

    registry = standard_registry()

    def alone(settings: Settings) -> LineFrontend:
        nobody = NoInput("" if seat.waits else "nobody is attached")
        return LineFrontend(registry, settings, filters, source=nobody, json=options.json, output=options.output)

    return RemoteFrontend(seat, registry, settings, filters, alone=alone, first=options.until, check=_of_the_screen)


def _of_the_screen(before: Settings, settings: Settings) -> None:
    """Refuse keys and colours that the full screen cannot use, except for those that were already wrong `before`.

    Raises:
        TfdbgError: there is one; the message says which.

    """
    known = {(name, str(fault)) for name, fault in _faults(before)}
    for name, fault in _faults(settings):
        if (name, str(fault)) not in known:
            raise fault


def _faults(settings: Settings) -> Iterable[tuple[str, TfdbgError]]:
    """The keys and colours that do not fit, and why. urwid is loaded only where there are some to be looked at."""
    if not (settings.keys or settings.colours):
        return ()
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.tui.keys.keymap import ACTIONS
    from tfdbg_cli.tui.keys.preferences import preferences

    return preferences(settings, standard_registry(), ACTIONS).faults.items()


def user_settings(path: Path | None = None) -> Settings:
    """The settings of the user at the terminal; what is wrong with their file is said on standard error.

    `path` is a file in place of the user's own.
    """
    settings, warnings = load_settings(path)
    _warnings.extend(warning for warning in warnings if warning not in _warnings)
    faults = [f"The setting {name} was left aside: {fault}" for name, fault in _faults(settings)]
    for warning in (*warnings, *faults):
        if warning not in _said:
            _said.add(warning)
            to_stderr(warning)
    return settings
