"""How commands and their arguments are told, by `help` and on the page of the manual."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Argument, Command, Registry


def sections(registry: Registry) -> dict[str, list[Command]]:
    """The commands under the headings of help, both in the order of registration."""
    found: dict[str, list[Command]] = {}
    for command in registry:
        found.setdefault(command.section, []).append(command)
    return found


def argument_names(argument: Argument) -> str:
    """`-n, --number K`: how an argument is written."""
    if argument.positional:
        return argument.metavar or argument.dest.upper()
    names = ", ".join(argument.flags)
    return names if argument.switch else f"{names} {argument.metavar or '|'.join(argument.choices) or 'VALUE'}"


def argument_help(argument: Argument) -> str:
    """The help of an argument with its default."""
    default = argument.default
    choices = f": {', '.join(argument.choices)}" if argument.choices and argument.metavar else ""
    shown = "" if argument.switch or default in (None, "", ()) else f" (default {default})"
    return argument.help + choices + shown
