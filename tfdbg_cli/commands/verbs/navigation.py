"""`prev`, `next`, `output`, `mouse` and `shell`: what only a front end can do."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, Command, Outcome, UiAction
from tfdbg_cli.document.document import text_document
from tfdbg_cli.document.text import Span, Style, line


def _prev(context: Context, options: argparse.Namespace) -> Outcome:
    return UiAction.BACK


def _next(context: Context, options: argparse.Namespace) -> Outcome:
    return UiAction.FORWARD


def _output(context: Context, options: argparse.Namespace) -> Outcome:
    return UiAction.OUTPUT


def _shell(context: Context, options: argparse.Namespace) -> Outcome:
    return UiAction.SHELL


def _mouse(context: Context, options: argparse.Namespace) -> Outcome:
    if options.state:
        return UiAction.MOUSE_ON if options.state == "on" else UiAction.MOUSE_OFF
    other = "off" if context.settings.mouse_mode else "on"
    shown = line(
        "The mouse starts ",
        "off" if other == "on" else "on",
        ". ",
        Span(f"mouse {other}", Style.KEY, f"mouse {other}"),
    )
    return text_document("mouse", shown, data={"mouse_mode": context.settings.mouse_mode})


COMMANDS = (
    Command("prev", (), "Back to the screen before.", _prev, section="Move"),
    Command("next", (), "Forward again.", _next, section="Move"),
    Command(
        "output",
        (),
        "The terminal as the program left it, with all that it has written, until a key is pressed.",
        _output,
        moments=LIVE,
        section="Move",
        details="""\
What the program wrote before the stop stands on the terminal, and in what that scrolls back to: tfdbg never comes
between the program and where its output goes. What it writes while the screen is up is kept, the title says so, and
`output` writes it there.""",
    ),
    Command(
        "mouse",
        ("m",),
        "Follow links with the mouse, or leave it to the terminal for selecting text.",
        _mouse,
        (Argument(("state",), "on or off", choices=("on", "off"), nargs="?"),),
        section="Move",
        details="`config set mouse_mode off` keeps it so.",
    ),
    Command("shell", ("!",), "A shell, of $SHELL; its `exit` comes back here.", _shell, section="Move"),
)
