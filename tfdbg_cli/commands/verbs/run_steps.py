"""`older` and `newer`: the same screen of another run."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, UiAction
from tfdbg_cli.errors import TfdbgError


def _step(direction: int) -> Callable[[Context, argparse.Namespace], Outcome]:
    def handler(context: Context, options: argparse.Namespace) -> Outcome:
        if options.runs < 1:
            raise TfdbgError(f"{options.runs} runs are no step.", hint="Write a number from 1.")
        context.step(direction * options.runs, same=options.same)
        return UiAction.SHOW_AGAIN

    return handler


def _command(name: str, direction: int, words: str) -> Command:
    return Command(
        name,
        (),
        f"The same screen of the run {words}.",
        _step(direction),
        (
            Argument(("runs",), "how many runs to step", metavar="N", type=int, nargs="?", default=1),
            Argument(("--same",), "count only runs of the same function, or with the same fetches", switch=True),
        ),
        moments=WITH_TENSORS,
        section="Move",
        details="""\
The runs are those of a recording, or those kept before a stop (`run -f FILTER --keep N`). `runs` lists them,
`history TENSOR` shows one tensor over all of them.""",
    )


COMMANDS = (_command("older", -1, "before"), _command("newer", 1, "after"))
