"""The same screen of another run, for `older` and `newer`: which commands have one."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Registry
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
