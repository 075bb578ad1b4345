"""`preview`: what another command would show, at a glance."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of, require_moment
from tfdbg_cli.commands.previews.table import PREVIEWS
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Registry
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `preview` over `registry`."""

    def steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
        """Find out who reads what in a large graph."""
        return context.graph.index_in_steps()

    def run(context: Context, options: argparse.Namespace) -> Document:
        words = parse_line(options.what.strip()).words
        if words and words[0] not in registry:
            words = ("pt", *words)
        command = registry.find(words[0] if words else "", moment_of(context))
        found = PREVIEWS.get(command.name)
        asked = command.parse(words[1:]) if found is not None else None
        if found is None or asked is None or not found.takes(asked):
            others = ", ".join(
                f"`{registry.find(name).aliases[0]}{other.needs}`"
                for name, other in PREVIEWS.items()
                if registry.find(name).aliases
            )
            raise TfdbgError(f"`{command.name}` has no preview.", hint=f"{others} and `origin` have one.")
        require_moment(command, context)
        return found.make(context, asked)

    command = Command(
        "preview",
        ("pv",),
        "A tensor, node, layer, feed or source line at a glance: health, first elements, inputs, recipients.",
        run,
        (Argument(("what",), "a tensor, or a command that shows one thing", ArgumentKind.TENSOR, nargs="..."),),
        details="""\
On a screen of 140 columns or 40 rows a pane shows the preview of what is chosen on the page; there values are drawn
too. `preview origin` shows the rows of the batch that the origin leads back to, `preview row 17` one row of it. Of a
part, such as dense/MatMul:0[3], that part is drawn, above the whole.

Examples:
  preview dense/MatMul:0
  preview ni dense/MatMul
  preview lt -l dense_1
  preview ps train.py -b 120
  preview origin""",
        steps=steps,
    )
    return (command,)
