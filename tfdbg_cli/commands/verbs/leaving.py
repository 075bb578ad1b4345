"""`continue`, `detach`, `abort` and `exit`: ways to leave the prompt. Only who says `abort` ends the program."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, Command, Outcome, UiAction
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Abort, Continue, Detach
from tfdbg_cli.model.runs import Opened


def _continue(context: Context, options: argparse.Namespace) -> Outcome:
    return Continue()


def _detach(context: Context, options: argparse.Namespace) -> Outcome:
    return Detach()


def _abort(context: Context, options: argparse.Namespace) -> Outcome:
    return Abort()


def _exit(context: Context, options: argparse.Namespace) -> Outcome:
    if options.detach and options.abort:
        raise TfdbgError("--detach and --abort exclude each other.")
    if isinstance(context.stop, Opened):
        return UiAction.LEAVE
    if options.detach:
        return Detach()
    return Abort() if options.abort else UiAction.LEAVE


COMMANDS = (
    Command(
        "continue",
        ("c", "cont"),
        "Run on; an op's error, and any that ends a program of `tfdbg run`, opens the prompt.",
        _continue,
        moments=LIVE,
        section="Go on",
    ),
    Command(
        "detach",
        (),
        "Run on as if there were no debugger.",
        _detach,
        moments=LIVE,
        section="Go on",
    ),
    Command(
        "abort",
        (),
        "End the program, as by Ctrl-C.",
        _abort,
        moments=LIVE,
        section="Go on",
    ),
    Command(
        "exit",
        ("quit", "q"),
        "Leave the debugger; asks whether the program goes on.",
        _exit,
        (
            Argument(("--detach",), "the program runs on undebugged", switch=True),
            Argument(("--abort",), "the program ends, as by `abort`", switch=True),
        ),
        section="Go on",
        details="On a recording it closes the recording.",
    ),
)
