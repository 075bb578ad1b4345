"""Completion of what is being typed: commands, flags, and by an argument's kind everything it can name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.analysis.watch.filter import Filter
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.vocabulary import NameMatches, matching, vocabulary_of
from tfdbg_cli.config.settings import setting_names, values_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import element_type_names
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.whole_numbers import whole_number

_MOST = 1000  # candidates handed out; `total` counts them all


@dataclass(frozen=True, slots=True)
class Completions:
    """What could stand at `text[start:]`, in order.

    `candidates` are at most 1000 of `total`; `common` is what all of them, also those left out, begin with.
    """

    start: int
    candidates: tuple[str, ...] = ()
    common: str = ""
    total: int = 0


@dataclass(frozen=True, slots=True)
class _Typed:
    """The words before the one being typed, and that one: where it starts, and what holds it open."""

    before: tuple[str, ...]
    start: int
    word: str
    inside: str = ""  # the backtick, quote or bracket that is still open at the end
    opened: int = 0  # the position after it


def complete(text: str, context: Context, registry: Registry) -> Completions:
    """Complete the command string `text`, which ends at the cursor. No candidates when nothing fits."""
    if text[:1] in {"/", "@"}:
        return Completions(len(text))
    typed = _typed(text)
    if typed.inside == "`":
        return _completions(typed.opened, _tensors(text[typed.opened :], context))
    if typed.inside in {"[", "("}:
        return Completions(len(text))
    if not typed.before:
        return _completions(typed.start, matching(typed.word, sorted(registry.names_at(moment_of(context)))))
    if typed.before[-1] in (">", ">|"):
        return _quoted(typed, _paths(typed.word))
    if typed.word.startswith(">"):
        arrow = 2 if typed.word.startswith(">|") else 1
        return _completions(typed.start + arrow, _paths(typed.word[arrow:]))
    if typed.before[0] not in registry:
        return Completions(len(text))
    command = registry.find(typed.before[0], moment_of(context))
    if typed.word.startswith("-") and not typed.inside and "=" not in typed.word:
        return _completions(typed.start, matching(typed.word, _free_flags(command, typed.before)))
    return _value(typed, command, context, registry)


def _typed(text: str) -> _Typed:
    """Take `text` apart, however unfinished it is."""
    before: list[str] = []
    start = 0
    word = ""
    closers: list[tuple[str, int]] = []
    for position, char in enumerate(text):
        if closers and closers[-1][0] in "'\"`":
            if char == closers[-1][0]:
                closers.pop()
        elif char == "`" or (char in "'\"" and not word):
            closers.append((char, position + 1))
        elif char in "[(":
            closers.append(({"[": "]", "(": ")"}[char], position + 1))
        elif closers and char == closers[-1][0]:
            closers.pop()
        elif char.isspace() and not closers:
            if word:
                before.append(word.strip("'\""))
            start, word = position + 1, ""
            continue
        word += char
    if not closers:
        return _Typed(tuple(before), start, word)
    closer, opened = closers[-1]
    if closer in "'\"":
        return _Typed(tuple(before), opened, text[opened:], closer, opened)
    return _Typed(tuple(before), start, word, {"]": "[", ")": "("}.get(closer, closer), opened)


def _free_flags(command: Command, before: Sequence[str]) -> list[str]:
    """Flags of `command` that were not given yet, the long form of each first."""
    left = [a for a in command.arguments if not a.positional and not set(a.flags) & set(before)]
    return sorted((flag for argument in left for flag in argument.flags), key=lambda flag: (flag[:2] != "--", flag))


def _value(typed: _Typed, command: Command, context: Context, registry: Registry) -> Completions:
    flag, equals, rest = typed.word.partition("=")
    if equals and flag.startswith("-"):
        argument = _flagged(command, flag)
        start = typed.start + len(flag) + 1
        return _completions(start, _named(argument, rest, context, registry)) if argument else Completions(start)
    argument = _flagged(command, typed.before[-1]) or _positional(command, typed.before[1:])
    if argument is None:
        return Completions(typed.start)
    if argument.kind is ArgumentKind.SETTING_VALUE:
        return _quoted(typed, matching(typed.word, values_of(typed.before[-1])))
    return _quoted(typed, _named(argument, typed.word, context, registry))


def _flagged(command: Command, flag: str) -> Argument | None:
    """The argument whose value follows `flag`; a switch has none."""
    for argument in command.arguments:
        if flag in argument.flags and not argument.positional and not argument.switch:
            return argument
    return None


def _positional(command: Command, before: Sequence[str]) -> Argument | None:
    """The positional argument that comes after the words `before`."""
    given = 0
    words = iter(before)
    for word in words:
        if word.startswith("-") and len(word) > 1:
            if _flagged(command, word):
                next(words, None)
        else:
            given += 1
    places = [argument for argument in command.arguments if argument.positional]
    if given < len(places):
        return places[given]
    return places[-1] if places and places[-1].nargs in {"*", "+", "...", "...?"} else None


def _named(argument: Argument, word: str, context: Context, registry: Registry) -> NameMatches:
    """What `argument` can name that begins with `word`, or holds it where nothing begins so."""
    if argument.choices:
        return matching(word, argument.choices)
    match argument.kind:
        case ArgumentKind.TEXT:
            return NameMatches()
        case ArgumentKind.PATH:
            return _paths(word)
        case ArgumentKind.TENSOR:
            return _tensors(word, context)
        case ArgumentKind.NODE:
            return vocabulary_of(context.graph).nodes.matching(word)
        case ArgumentKind.LAYER:
            return matching(word, vocabulary_of(context.graph).layers)
        case ArgumentKind.SOURCE:
            return matching(word, vocabulary_of(context.graph).sources(context.tracebacks))
        case ArgumentKind.DEVICE:
            return matching(word, context.graph.devices())
        case ArgumentKind.OP_TYPE:
            return matching(word, vocabulary_of(context.graph).op_types)
        case _:
            return matching(word, sorted(_few(argument.kind, word, context, registry)))


def _few(kind: ArgumentKind, word: str, context: Context, registry: Registry) -> Iterable[str]:
    """Names of the kinds that come in small numbers."""
    if kind is ArgumentKind.FEED:
        return context.call.feeds
    if kind is ArgumentKind.FILTER:
        return [*context.filters, *_with_parameters(context)] if ":" in word else context.filters
    if kind is ArgumentKind.DTYPE:
        return element_type_names()
    if kind is ArgumentKind.SETTING:
        return setting_names()
    return registry.names_at(moment_of(context))


def _with_parameters(context: Context) -> Iterator[str]:
    """`NAME:N` for the filters that take a number."""
    for name, found in context.filters.items():
        if isinstance(found, Filter) and found.parameter is not None:
            yield f"{name}:{found.parameter:g}"


def _tensors(word: str, context: Context) -> NameMatches:
    """`node:slot` for the tensors that a run holds; before it, the nodes of the graph."""
    if isinstance(context.stop, RunStart):
        return vocabulary_of(context.graph).nodes.matching(word)
    try:
        tensors = context.run.tensors
    except TfdbgError:  # a run of a recording that cannot be read: there is nothing to name
        return NameMatches()
    names = vocabulary_of(context.graph).tensors(tensors)
    node, colon, slot = word.rpartition(":")
    if colon and (not slot or whole_number(slot) is not None):
        found = sorted({tensors[i].slot for i in tensors.named(node)})
        return NameMatches.of([f"{node}:{k}" for k in found if str(k).startswith(slot)])
    nodes = names.matching(word)
    shown = nodes.names[:_MOST]
    with_slots = [f"{name}:{k}" for name in shown for k in sorted({tensors[i].slot for i in tensors.named(name)})]
    if nodes.total > len(shown):
        return NameMatches(with_slots, nodes.common, nodes.total)
    return NameMatches.holding(with_slots, word)


def _paths(word: str) -> NameMatches:
    """Files and folders; folders end with a slash."""
    start = word.rpartition("/")[2]
    shown = word[: len(word) - len(start)]
    found: list[str] = []
    try:
        with os.scandir(Path(shown or ".").expanduser()) as entries:
            for entry in entries:
                if entry.name.startswith(start) and (start.startswith(".") or not entry.name.startswith(".")):
                    found.append(shown + entry.name + ("/" if entry.is_dir() else ""))
    except (OSError, RuntimeError, ValueError):  # no such folder, no such home, not ours to read: nothing to offer
        return NameMatches()
    return NameMatches.of(sorted(found))


def _quoted(typed: _Typed, match: NameMatches) -> Completions:
    """`match` for a word that may stand in quotes: names with blanks get them, and open ones are closed."""
    if typed.inside in {"'", '"'}:
        names = [f"{typed.inside}{name}{typed.inside * (name[-1:] != '/')}" for name in match.names[:_MOST]]
        common = names[0] if match.total == 1 else typed.inside + match.common
        return _completions(typed.start - 1, NameMatches(names, common if names else "", match.total))
    if typed.inside or not any(map(_has_blanks, match.names[:_MOST])):
        return _completions(typed.start, match)
    return _completions(typed.start, NameMatches.holding([_in_quotes(name) for name in match.names], typed.word))


def _in_quotes(name: str) -> str:
    """`name`, in quotes if it needs some."""
    return (quoted(name) if '"' in name else f'"{name}"') if _has_blanks(name) else name


def _has_blanks(name: str) -> bool:
    return any(map(str.isspace, name))


def _completions(start: int, match: NameMatches) -> Completions:
    return Completions(start, tuple(match.names[:_MOST]), match.common, match.total)
