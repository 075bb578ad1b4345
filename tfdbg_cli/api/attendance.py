"""Who is there to be asked: the front end that is wanted, and whether anybody is at a terminal."""

from __future__ import annotations

import os

from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import OnHit
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.terminal_facts import terminal_facts

# The names of TensorFlow's tfdbg stay good.
_NAMES = {"tui": "tui", "curses": "tui", "line": "line", "readline": "line", "none": "none", "auto": ""}


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


def attended(ui: str | None = None) -> bool:
    """Whether somebody at a terminal can be asked: not a script, nor a notebook, whose keys are none of Ctrl-C's."""
    options, name = launch_options(), wanted(ui)
    if options.script is not None or options.seat is not None or name == "none" or options.on_hit is OnHit.NONE:
        return False
    facts = terminal_facts()
    if facts.notebook or facts.ide or not facts.foreground:
        return False
    return facts.stdin_tty or ((name == "tui" or facts.stdin_taken) and facts.controlling)


def waits_for_the_end(ui: str | None = None) -> bool:
    """Whether `tfdbg run` is to show a failed run only once that ends the program, since nobody sits at a prompt."""
    options = launch_options()
    if options.until is None and options.script is None:
        return False
    if options.seat is not None:
        return options.seat.visitor is None
    if options.script is not None or options.on_hit is OnHit.NONE or wanted(ui) == "none":
        return True
    return deserted(ui)


def deserted(ui: str | None = None) -> bool:
    """Whether nobody can answer a prompt: no terminal, notebook or console of an editor, and nobody can attach."""
    facts = terminal_facts()
    someone = facts.notebook or facts.ide or facts.stdin_tty or attended(ui)
    return launch_options().seat is None and not someone


def fills_the_screen(ui: str | None = None) -> bool:
    """Whether `choose_frontend` gives the full screen, as far as can be told now."""
    options, name = launch_options(), wanted(ui)
    if options.script is not None or options.json or options.seat is not None or name in {"line", "none"}:
        return False
    if options.on_hit is OnHit.NONE:
        return False
    return not terminal_facts().obstacle(chosen=name == "tui")


def wanted(ui: str | None) -> str:
    """The front end that a user or a program asks for; empty for a free choice."""
    return launch_options().ui or ui_name(os.environ.get("TFDBG_UI")) or ui_name(ui)
