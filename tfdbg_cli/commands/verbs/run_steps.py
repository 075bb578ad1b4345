"""`older` and `newer`: the same screen of another run."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, Registry, UiAction
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import RunEnd

# Commands that show something of a run and change nothing. `history` marks the run looked at.
_SHOWN_AGAIN = frozenset({
    "list_tensors", "layers", "tree", "frequencies", "print_tensor", "preview", "origin", "error_info", "print_feed",
    "eval", "diff", "run_info", "history", "trends", "node_info", "list_inputs", "list_outputs", "path", "placement",
    "list_source", "print_source", "list_profile",
})  # fmt: skip


def shown_again(command: str, context: Context, registry: Registry) -> str:
    """What shows the screen of `command` for the run looked at now; where it is about no run, its first screen."""
    try:
        words = parse_line(command).words
        found = registry.find(words[0]) if words else None
    except TfdbgError:
        found = None
    if found is None or found.name not in _SHOWN_AGAIN:
        return opening_command(RunEnd(context.run))
    return command


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
