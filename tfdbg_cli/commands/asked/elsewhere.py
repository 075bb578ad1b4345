"""What is done where the program runs, and not at a recording, as hints name it."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.model.runs import Opened


def in_the_program(context: Context, command: str) -> str:
    """`command` in backticks, the beginning of a sentence, which says at a recording that it is typed elsewhere."""
    return f"Where the program runs, `{command}`" if isinstance(context.stop, Opened) else f"`{command}`"
