"""`tfdbg run --on-hit`: which workers of a job stop where the watch of one finds something."""

from __future__ import annotations

import argparse

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import OnHit


def add_on_hit_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take who stops."""
    parser.add_argument(
        "--on-hit",
        choices=[one.value for one in OnHit],
        default=OnHit.ONE.value,
        help="which workers of a job stop where the watch of one finds something: that one (one, as without it); all"
        " of them, each after the run it is at (all: they tell each other through the folder that the variable"
        " TFDBG_JOB names, which all have to see, else one of this user on this machine); or none, which prints what"
        " was found and goes on undebugged, at a terminal, too (none)",
    )


def on_hit_of(options: argparse.Namespace) -> OnHit:
    """What `options` say.

    Raises:
        TfdbgError: it goes with nothing else that they say.

    """
    asked = OnHit(options.on_hit)
    if asked is not OnHit.NONE:
        return asked
    if not (options.watch or options.until):
        raise TfdbgError(
            "--on-hit none is about what a watch finds, and there is none.", hint="Add --watch, or --until FILTER."
        )
    for option, given in (("-c", options.commands), ("--ui", options.ui), ("--listen", options.listen is not None)):
        if given:
            raise TfdbgError(f"--on-hit none and {option} exclude each other: no prompt opens.")
    if options.unattended == "wait":
        raise TfdbgError("--on-hit none and --unattended wait exclude each other: nothing is waited for.")
    return asked
