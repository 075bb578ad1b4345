"""What verbs have in common that open a prompt: options of it, and the prompt itself."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tfdbg_cli.api.launch_options import LaunchOptions
from tfdbg_cli.line.script import Script

if TYPE_CHECKING:
    from tfdbg_cli.model.decision import RecordRuns, RunUntil
    from tfdbg_cli.model.runs import Opened

_UIS = ("tui", "line", "none")


def add_prompt_options(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take which front end there is, commands for it, and JSON."""
    parser.add_argument("--ui", choices=_UIS, default="", help="full screen, line prompt, or -c commands only")
    parser.add_argument(
        "-c", "--command", action="append", metavar="CMD", dest="commands", help="run CMD at the prompt; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each command")


def options_given(
    options: argparse.Namespace, until: RunUntil | None = None, record: RecordRuns | None = None
) -> LaunchOptions:
    """Those options, `until`, the watch that a program begins with, and `record`, which runs are recorded."""
    script = Script(options.commands) if options.commands else None
    return LaunchOptions(options.ui, script, until, record, json=options.json, output=sys.stdout)


def look_at(stop: Opened) -> int:
    """Open the prompt on `stop`; 1 when a command failed."""
    from tfdbg_cli.api.frontends import choose_frontend
    from tfdbg_cli.model.decision import Abort

    frontend = choose_frontend()
    decision = frontend.stop(stop)
    if isinstance(decision, Abort):
        raise KeyboardInterrupt
    if frontend.broken:
        raise BrokenPipeError
    return 1 if frontend.failures else 0
