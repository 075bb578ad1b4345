"""`tfdbg run --ui none`: what cannot be asked for beside it."""

from __future__ import annotations

import argparse
import os

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.streams import to_stderr

_NONE = "none"


def refuse_untold(options: argparse.Namespace) -> None:
    """Refuse a watch, and norms for a prompt, where `options` leave nobody to be told of them.

    Commands and a seat for visitors are front ends of their own. Where TFDBG_UI says so, as on machines on which
    nobody debugs, the program runs, a bundle that was asked for is written, and that nobody is told more is said.

    Raises:
        TfdbgError: `--ui none` stands beside them.

    """
    if options.commands or options.listen is not None or options.dormant:
        return
    if (options.ui or os.environ.get("TFDBG_UI")) != _NONE:
        return
    asked = (("--watch", options.watch), ("--until", options.until), ("--trends", options.trends))
    untold = [option for option, given in asked if given]
    if untold and options.ui:
        raise TfdbgError(
            f"--ui none and {untold[0]} exclude each other: without a front end nobody is told anything.",
            hint="Leave it out: without a terminal nothing waits, and --on-hit none asks nobody at one, either.",
        )
    if untold:
        to_stderr(f"TFDBG_UI=none: without a front end nobody is told what comes of {' and '.join(untold)}.")
