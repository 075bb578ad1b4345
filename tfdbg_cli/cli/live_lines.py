"""`tfdbg run --live`: the lines at the bottom of the terminal."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.own_descriptor import OwnDescriptor
from tfdbg_cli.process.streams import to_stderr

if TYPE_CHECKING:
    import argparse

    from tfdbg_cli.line.bottom_lines import BottomLines

_HINT = "Without --live a watch tells its progress line by line, in files and pipes, too."


def add_live_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take whether there are such lines."""
    parser.add_argument(
        "--live",
        action="store_true",
        help="tell at the bottom of the terminal how the training goes: runs and their pace, the watch, and with"
        " --trends and --rules the norms and alerts so far; what the program prints scrolls above",
    )


def live_lines(options: argparse.Namespace) -> BottomLines | None:
    """The lines that `options` ask for; None where they do not. To be called while there is one thread.

    Raises:
        TfdbgError: there is no terminal for them.

    """
    if not options.live:
        return None
    from tfdbg_cli.line.bottom_lines import BottomLines
    from tfdbg_cli.line.terminal_guard import TerminalGuard
    from tfdbg_cli.line.terminal_signals import TerminalSignals

    terminal = _terminal()
    if terminal is None:
        raise TfdbgError("--live draws on a terminal, and neither standard error nor output is one.", hint=_HINT)
    if os.environ.get("TERM", "dumb") in {"", "dumb"}:
        raise TfdbgError("--live draws on a terminal that can move its cursor, and TERM names none.", hint=_HINT)
    count = 2 + bool(options.trends) + (options.rules is not None)
    guard = TerminalGuard(terminal)
    bottom = BottomLines(OwnDescriptor(terminal), count, guard.tell, TerminalSignals(guard.pipe, guard.stops))
    if bottom.obstacle:
        to_stderr(bottom.obstacle)
    return bottom


def _terminal() -> int | None:
    """A descriptor of our own for the terminal that the program writes to."""
    for descriptor in (2, 1):
        with suppress(OSError):
            if os.isatty(descriptor):
                return os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    return None
