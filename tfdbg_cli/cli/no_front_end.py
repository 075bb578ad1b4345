"""`tfdbg run --ui none`: what cannot be asked for beside it."""

from __future__ import annotations

import argparse
import os

from tfdbg_cli.errors import TfdbgError

_NONE = "none"


def refuse_untold(options: argparse.Namespace) -> None:
    """Refuse a watch, and norms for a prompt, where `options` or TFDBG_UI leave nobody to be told of them.

    Commands and a seat for visitors are front ends of their own.

    Raises:
        TfdbgError: it is so.

    """
    if options.commands or options.listen is not None or options.dormant:
        return
    if (options.ui or os.environ.get("TFDBG_UI")) != _NONE:
        return
    chosen, instead = ("--ui none", "Leave it out") if options.ui else ("TFDBG_UI=none", "Unset it")
    for option, given in (("--watch", options.watch), ("--until", options.until), ("--trends", options.trends)):
        if given:
            raise TfdbgError(
                f"{chosen} and {option} exclude each other: without a front end nobody is told anything.",
                hint=f"{instead}: without a terminal nothing waits, and --on-hit none asks nobody at one, either.",
            )
