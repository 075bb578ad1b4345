"""The verbs of `tfdbg`, a module each. Only the one that is asked for is loaded."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    import argparse

    from tfdbg_cli.cli.parser import Parser

VERBS = ("run", "attach", "listen", "open", "tail", "doctor", "diff", "checkpoint", "replay", "info")

Program: TypeAlias = Callable[[], int]
"""A program of the user's: what it raises is its own, and comes out of `tfdbg`."""


class VerbModule(Protocol):
    """What the module of a verb holds."""

    HELP: str

    def prepare_parser(self, parser: Parser) -> None:
        """Add the options of the verb."""
        ...

    def run(self, options: argparse.Namespace) -> int | Program:
        """Do what `options` ask for, and give the exit code; or give the program to run.

        Raises:
            TfdbgError: it cannot be done; its exit code is that of tfdbg.

        """
        ...


def verb_named(name: str) -> VerbModule:
    """The module of one of the `VERBS`."""
    return cast("VerbModule", import_module(f"{__name__}.{name}"))
