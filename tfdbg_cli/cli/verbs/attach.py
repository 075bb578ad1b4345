"""`tfdbg attach`: the prompt of a program that listens."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.errors import TfdbgError

if TYPE_CHECKING:
    from tfdbg_cli.remote.meeting_place import Meeting

HELP = "open the prompt of a program that runs elsewhere"
_NOBODY = "No program of yours listens here."
_HOW = "`tfdbg run --dormant SCRIPT` begins one; of one with --listen give HOST:PORT."


def prepare_parser(parser: Parser) -> None:
    """Take which program, and commands for it."""
    parser.description = (
        "Open the prompt of a program that was begun by `tfdbg run --listen` or `--dormant`, at its next run. It is"
        " the line UI. When you leave (Ctrl-D), or the connection is lost, the program goes on as before. The exit"
        " code is 1 when a command of -c failed, 2 when there is no connection."
    )
    parser.add_argument(
        "target",
        metavar="PID | NAME | HOST:PORT",
        nargs="?",
        default="",
        help="the process, its script, or where it listens (a port alone with --token); none if one alone is dormant",
    )
    parser.add_argument("--token", default="", help="what the program said; TFDBG_TOKEN can hold it, too")
    parser.add_argument(
        "-c", "--command", action="append", metavar="CMD", dest="commands", help="run CMD at the prompt; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each command")


def run(options: argparse.Namespace) -> int:
    """Talk until one side ends it; 1 when a command failed.

    Raises:
        TfdbgError: there is no such program, or no connection to it.

    """
    from tfdbg_cli.remote.address import Address
    from tfdbg_cli.remote.token import VARIABLE, given_token

    token = options.token or given_token()
    if ":" in options.target:
        if not token:
            raise TfdbgError(
                "A token is needed there.", hint=f"Give --token, or set {VARIABLE}: the program says it."
            )
        return _talk(Address.read(options.target).connect(), token, options)
    from tfdbg_cli.remote.meeting_place import meetings

    found = meetings()
    if options.token and options.target.isdigit() and not any(one.is_called(options.target) for one in found):
        return _talk(Address.read(options.target).connect(), token, options)
    return _talk(_chosen(found, options.target).connect(), token, options)


def _chosen(found: Sequence[Meeting], name: str) -> Meeting:
    """The one program that `name` calls; without a name, the only one.

    Raises:
        TfdbgError: there is none, or more.

    """
    if not found:
        raise TfdbgError(_NOBODY, hint=_HOW, exit_code=2)
    called = [meeting for meeting in found if not name or meeting.is_called(name)]
    exact = [meeting for meeting in called if meeting.number == name]
    if len(exact or called) == 1:
        return (exact or called)[0]
    rows = [f"{meeting.number}  {meeting.job.words}" for meeting in called or found]
    if not called:
        raise TfdbgError(f"No program {name!r} listens here. These do:", rows=rows, exit_code=2)
    raise TfdbgError(f"{len(called)} programs listen; give the number of one:", rows=rows)


def _talk(connection: socket.socket, token: str, options: argparse.Namespace) -> int:
    from tfdbg_cli.commands.typed_commands import History
    from tfdbg_cli.document.ansi import wants_color
    from tfdbg_cli.line.input import choose_input
    from tfdbg_cli.line.script import Script
    from tfdbg_cli.remote.channel import Channel
    from tfdbg_cli.remote.client import Client
    from tfdbg_cli.remote.visitor import Wishes
    from tfdbg_cli.terminal_facts import is_tty, terminal_facts

    script = Script(options.commands) if options.commands else None
    tty = is_tty(sys.stdout)
    history = History() if script is not None else History.load()
    source = choose_input(script, terminal_facts(), history, aside=options.json or not tty)
    wishes = Wishes(
        interactive=source.interactive,
        echoes=source.echoes,
        opening=script is None,
        json=options.json,
        color=script is None and wants_color(os.environ, tty),
    )
    return Client(Channel(connection), source, wishes, script, wide=tty and script is None).talk(token)
