"""`help`: every command by section, or one in full. Made from the registry."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from tfdbg_cli.commands.command_help import argument_help, argument_names, sections
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Moment, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.flow import Flow, Piece
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled

_NAMES_WIDTH = 26  # columns of the names and aliases: enough for all commands but two, and little enough for 80


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `help` over `registry`."""

    def run(context: Context, options: argparse.Namespace) -> Document:
        if options.command:
            return _one(registry.find(options.command, moment_of(context)))
        return _all(registry, context)

    command = Command(
        "help",
        ("h",),
        "What the commands are, or one in full.",
        run,
        (Argument(("command",), "the command to explain", ArgumentKind.COMMAND, nargs="?", default=""),),
        section="Settings and help",
        details="""\
Every command takes `> FILE` at its end and then writes its screen to that file, as plain text or as the end of the
name says: .html, .svg and .ansi with colours, .json as under `--json`, .csv the rows of a list, numbers unrounded.
`>| FILE` also replaces one.

Examples:
  origin > origin.html
  lt --stats > tensors.csv""",
    )
    return (command,)


def _all(registry: Registry, context: Context) -> Document:
    """What can be used here, by section; the rest by name, so that it can be found and read about."""
    blocks: list[Block] = []
    moment = moment_of(context)
    for heading, members in sections(registry).items():
        pairs = tuple(_pair(command) for command in members if moment in command.moments)
        if pairs:
            blocks.append(Text((line(Span(heading, Style.HEADING)),)))
            blocks.append(Definitions(pairs, _NAMES_WIDTH, indent="  "))
            blocks.append(Text((EMPTY_LINE,)))
    elsewhere = (_told_of(command, registry, moment) for command in registry if moment not in command.moments)
    if names := [name for name in elsewhere if name]:
        blocks.append(Flow("Not here", tuple(_pieces(names))))
        blocks.append(Text((EMPTY_LINE,)))
    more = "`help COMMAND` shows flags and examples. `COMMAND > FILE` writes the screen to a file."
    blocks.append(Labelled("", more, label_width=0))
    data = {"commands": [_data(command) for command in registry]}
    return Document("help", tuple(blocks), lambda: data, "help")


def _told_of(command: Command, registry: Registry, moment: Moment) -> str:
    """The name by which `help` tells of `command` at `moment`; empty where all of its names mean others here."""
    names = (command.name, *command.aliases)
    return next((name for name in names if registry.find(name, moment) is command), "")


def _pieces(names: Sequence[str]) -> Iterator[Piece]:
    for number, text in enumerate(names):
        name = Span(text, Style.DIM, f"help {text}")
        yield (Span(" "), name) if number else (name,)


def _pair(command: Command) -> tuple[Span, Span]:
    return Span(_names(command), Style.KEY, f"help {command.name}"), Span(command.summary)


def _names(command: Command) -> str:
    return ", ".join((command.name, *command.aliases))


def _data(command: Command) -> dict[str, object]:
    return {
        "name": command.name,
        "aliases": list(command.aliases),
        "section": command.section,
        "summary": command.summary,
        "usage": command.usage,
    }


def _one(command: Command) -> Document:
    name = Text((line(Span(_names(command), Style.TITLE)),))
    usage = Definitions(((Span("Usage", Style.LABEL), Span(command.usage)),))
    gap = Text((EMPTY_LINE,))
    blocks: list[Block] = [name, Labelled("", command.summary, label_width=0), gap, usage, gap]
    if command.arguments:
        pairs = tuple((Span(argument_names(a), Style.KEY), Span(argument_help(a))) for a in command.arguments)
        blocks.append(Definitions(pairs, indent="  "))
        blocks.append(Text((EMPTY_LINE,)))
    if command.details:
        blocks += _details(command.details)
    data = _data(command) | {
        "arguments": [{"names": list(a.flags), "help": argument_help(a)} for a in command.arguments],
        "details": command.details,
    }
    return Document("help", tuple(blocks), lambda: data, f"help {quoted(command.name)}")


def _details(text: str) -> list[Block]:
    """Paragraphs wrapped to the screen, then the examples with what they do beside them."""
    prose, _, examples = text.partition("Examples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in prose.strip().split("\n\n")]
    blocks: list[Block] = [Labelled("", "\n\n".join(paragraphs), label_width=0)] if prose.strip() else []
    if examples:
        rows = [re.split(r"\s{2,}", row.strip(), maxsplit=1) for row in examples.strip().split("\n")]
        pairs = tuple((Span(row[0], Style.KEY), Span(row[1] if len(row) > 1 else "")) for row in rows)
        heading = Text((EMPTY_LINE,) * bool(blocks) + (line(Span("Examples", Style.HEADING)),))
        blocks += [heading, Definitions(pairs, indent="  ")]
    return blocks
