"""`tfdbg run --unattended`: what is done with what a watch finds while nobody is at a prompt."""

from __future__ import annotations

import argparse
import os
from enum import StrEnum
from pathlib import Path

from tfdbg_cli.errors import TfdbgError


class Unattended(StrEnum):
    """What is done at a stop of a watch where nobody is."""

    CONTINUE = "continue"
    RECORD = "record"
    WAIT = "wait"


def add_unattended_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take what is to be done where nobody is."""
    parser.add_argument(
        "--unattended",
        choices=[one.value for one in Unattended],
        default=None,
        help="what to do with what the watch finds, or with the exception that ends the program, while nobody is at a"
        " prompt: print it and go on (continue, as without it); write the run to a new folder, too, as --bundle does"
        " (record: NAME-PID.tfdbg; that there is no run is said); or print it and wait there until somebody attaches"
        " and decides (wait)",
    )


def unattended_of(options: argparse.Namespace) -> Unattended:
    """What `options` say.

    Raises:
        TfdbgError: it goes with nothing else that they say.

    """
    if options.unattended is None:
        return Unattended.CONTINUE
    asked = Unattended(options.unattended)
    if not (options.watch or options.until):
        raise TfdbgError(
            f"--unattended {asked} is about what a watch finds, and there is none.",
            hint="Add --watch, or --until FILTER.",
        )
    if options.commands:
        raise TfdbgError("--unattended and -c exclude each other: -c says what is done at a stop.")
    if asked is Unattended.RECORD and options.bundle:
        raise TfdbgError("--unattended record and --bundle both name a folder.", hint="--bundle PATH is enough.")
    return asked


def bundle_for(program: str) -> str:
    """A folder in the current one that is not there yet, named after a script or module and this process."""
    name = f"{Path(program).name.removesuffix('.py') or 'program'}-{os.getpid()}"
    path, number = f"{name}.tfdbg", 1
    while os.path.lexists(path):
        number += 1
        path = f"{name}-{number}.tfdbg"
    return path
