"""The options of `tfdbg run` by which somebody can attach to the program later."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError

if TYPE_CHECKING:
    from tfdbg_cli.api.reception import Reception

_DORMANT_WATCH = "--dormant has nothing watched before somebody attaches."
_LISTEN = "Use --listen with it."
_INTERRUPTED = 130


def add_listen_options(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take where the program listens."""
    group = parser.add_argument_group("for `tfdbg attach`, whose prompt is the line UI")
    group.add_argument(
        "--listen",
        metavar="HOST:PORT",
        default=None,
        help="listen there (port 0: any that is free); nobody is waited for, and what a watch finds is printed",
    )
    group.add_argument(
        "--dormant",
        action="store_true",
        help="listen on a socket of this user, and leave TensorFlow alone until somebody attaches",
    )


def reception_of(options: argparse.Namespace, *, waits: bool) -> Reception | None:
    """What listens as `options` say; None where nothing does. `waits` is for `--unattended wait`.

    Raises:
        TfdbgError: they make no sense, or it cannot be listened there.

    """
    if not (options.listen is not None or options.dormant or waits):
        return None
    if options.dormant and (options.watch or options.until):
        raise TfdbgError(_DORMANT_WATCH, hint="Use --listen with a watch, or `run -f FILTER` once you are attached.")
    if options.dormant and options.record:
        raise TfdbgError("--dormant has nothing recorded before somebody attaches.", hint=_LISTEN)
    if options.dormant and (options.rules is not None or options.trends):
        word = "--trends" if options.rules is None else "--rules"
        raise TfdbgError(f"--dormant looks at no runs before somebody attaches, and {word} does.", hint=_LISTEN)
    option = "--listen" if options.listen is not None else "--dormant" if options.dormant else "--unattended wait"
    if options.commands:
        raise TfdbgError(f"{option} and -c exclude each other.", hint="`tfdbg attach … -c CMD` gives commands.")
    if options.ui:
        raise TfdbgError(f"{option} and --ui exclude each other: the prompt opens where somebody attaches.")
    from tfdbg_cli.api.reception import Reception
    from tfdbg_cli.remote.address import Address

    address = None if options.listen is None else Address.read(options.listen)
    name = options.module if options.module is not None else options.program[0]
    path = os.path.realpath(name) if options.module is None else ""
    return Reception(name, address, dormant=options.dormant, waits=waits, path=path)


def exit_code_of(error: BaseException | None) -> int:
    """The exit code of a Python program that `error` ends, or that comes to its end."""
    match error:
        case None | SystemExit(code=None):
            return 0
        case SystemExit(code=int(code)):
            return code & 0xFF
        case KeyboardInterrupt():
            return _INTERRUPTED
        case _:
            return 1
