"""What to say of what a shell takes and no command here: most words that are left over are such habits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.commands.debugger_habits import habit_behind
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.errors import TfdbgError

_PARTING = (";", "&&")  # what parts two commands in a shell
_PROGRAMS = frozenset(
    ("cat", "cd", "cp", "emacs", "grep", "less", "man", "mkdir", "mv", "nano", "nvidia-smi", "pwd", "rm", "vi", "vim")
)
_ONE_AT_A_TIME = "One command is typed at a time."


def parted(name: str) -> str:
    """The hint where `name`, no command, is of a shell, or parted from another one as there; empty if not."""
    if name in _PROGRAMS:
        return "`!` opens a shell; its `exit` comes back here."
    if name.startswith("!"):
        return "`!` alone opens a shell, in which that is typed; its `exit` comes back here."
    if name.endswith(_PARTING):
        return _ONE_AT_A_TIME
    return f"Nothing is piped from here. {_into_a_file('COMMAND')}" if "|" in name else ""


def left_over(command: str, words: Sequence[str], as_query: str, as_times: str) -> TfdbgError:
    """The error for `words` that were left over behind `command`, with what to write in their place.

    `as_query` is the command string in which they are a query, `as_times` the one in which they say how many times;
    empty where the command takes none.
    """
    text = " ".join(words)
    if any(word.endswith(_PARTING) or word.startswith(_PARTING) for word in words):
        return TfdbgError(f"{command}: {text!r} holds another command.", hint=_ONE_AT_A_TIME)
    if "|" in words:
        return TfdbgError(
            f"{command}: its answer cannot be piped to {' '.join(words[words.index('|') + 1 :])!r}.",
            hint=_into_a_file(command),
        )
    if words[0].startswith(">>"):
        return TfdbgError(
            f"{command}: nothing is appended to a file.",
            hint="`> FILE` writes one, `>| FILE` also where there is one.",
        )
    if arrow := re.match(">\\|?", words[0]):
        name = quoted(text[arrow.end() :].strip())
        return TfdbgError(
            f"{command}: {text!r} names more than one file.",
            hint=f"Quotes hold a name with blanks together: {arrow[0]} {name}",
        )
    if any(word.startswith("-") for word in words):
        hint = ""
    elif as_times:
        hint = f"The number stands behind -t: {as_times}"
    elif as_query:
        hint = f"A query stands behind -q: {as_query}"
    elif command == "shell":
        hint = f"`shell` opens one; type there: {text}"
    else:
        hint = habit_behind(command, words)
    hint = hint or f"See `help {command}`."
    return TfdbgError(f"{command}: unrecognized arguments: {text}.", hint=hint)


def _into_a_file(command: str) -> str:
    return f"`{command} … > FILE` writes an answer to a file."
