"""The registry of commands. Parsers, help, completion and the documentation are all made from it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Decision
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.raising_parser import RaisingParser


class Moment(Enum):
    """The kinds of stop at which a command can be used."""

    RUN_START = auto()
    RUN_END = auto()
    PAUSED = auto()  # in the middle of a run of eager code
    OPENED = auto()
    STEPPING = auto()  # within one of the others, while a run is made node by node


# What people type here that is done in another place, or by another name.
_WHAT_IF = "`set TENSOR EXPRESSION` and `again` ask what another value would give."
_ELSEWHERE = {
    "watch": "`run -f has_inf_or_nan` watches all runs from here on; `break` stops at an op.",
    "what-if": _WHAT_IF,
    "what_if": _WHAT_IF,
    "replay": "A shell makes a bundle's run again: tfdbg replay FOLDER",
    "doctor": "A shell asks what is wrong with what was saved: tfdbg doctor PATH",
    "open": "A shell opens what was saved: tfdbg open FOLDER",
}

EVERYWHERE = frozenset(Moment)
WITH_TENSORS = frozenset({Moment.RUN_END, Moment.PAUSED, Moment.OPENED})
LIVE = frozenset({Moment.RUN_START, Moment.RUN_END, Moment.PAUSED})
LOOKING = WITH_TENSORS | {Moment.STEPPING}


class ArgumentKind(Enum):
    """What an argument names, which tells completion where to find candidates."""

    TEXT = auto()
    NODE = auto()
    LAYER = auto()
    TENSOR = auto()
    FEED = auto()
    FILTER = auto()
    COMMAND = auto()
    SOURCE = auto()
    DEVICE = auto()
    OP_TYPE = auto()
    DTYPE = auto()
    SETTING = auto()
    SETTING_VALUE = auto()  # of the setting named before it
    PATH = auto()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command: `flags` such as ("-n", "--number"), or a single name for a positional.

    The remaining fields mean what they mean to argparse; `kind` and `choices` feed completion.
    """

    flags: tuple[str, ...]
    help: str
    kind: ArgumentKind = ArgumentKind.TEXT
    metavar: str = ""
    switch: bool = False  # present or absent, without a value
    type: Callable[[str], Any] = str
    default: Any = None
    choices: tuple[str, ...] = ()
    nargs: str = ""  # "?" for positionals, "*"; "...": one text of every word that is no flag; "...?" if any

    @property
    def positional(self) -> bool:
        return not self.flags[0].startswith("-")

    @property
    def dest(self) -> str:
        """The attribute of the parsed options that holds the value: the longest flag, without dashes."""
        return max(self.flags, key=len).lstrip("-").replace("-", "_")


class UiAction(Enum):
    """Something only a front end can do."""

    BACK = auto()
    FORWARD = auto()
    MOUSE_ON = auto()
    MOUSE_OFF = auto()
    OUTPUT = auto()  # the terminal as the program left it
    SHOW_AGAIN = auto()  # the screen on show, for the run looked at now
    LEAVE = auto()  # ask how to leave: detach or abort
    SHELL = auto()  # lend the terminal to a shell
    PDB = auto()  # lend it to Python's debugger, at the call of the program that is looked at


Outcome: TypeAlias = Document | Decision | UiAction
Handler: TypeAlias = Callable[[Context, argparse.Namespace], Outcome]
# Does the slow part of a handler's work in steps, and caches the result in the Context, where the handler finds it.
# Each step yields the share done (0 to 1), or None if that is not known.
Steps: TypeAlias = Callable[[Context, argparse.Namespace], Iterator[float | None]]


@dataclass(frozen=True)
class Command:
    """One command. `summary` is one line; `details` more paragraphs and examples for `help NAME`."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    handler: Handler
    arguments: tuple[Argument, ...] = ()
    moments: frozenset[Moment] = EVERYWHERE
    details: str = ""
    section: str = "Look"  # heading in help
    values: bool = False  # needs values: refused for a recording without any, such as a file with a graph
    graph: bool = False  # needs a graph: refused for a recording that holds only times, such as a profile
    steps: Steps | None = None  # for a slow command: lets a screen answer keys meanwhile
    acts: bool = False  # changes something: to write the answer on show to a file does not carry it out once more
    verbatim: bool = False  # all behind its name is one word as it was written, with quotes, brackets and `>`

    @cached_property
    def parser(self) -> argparse.ArgumentParser:
        """The argparse parser of the arguments; made on first use, since few commands are used in a session."""
        return _parser(self)

    @property
    def usage(self) -> str:
        """`list_tensors [-f FILTER] …` on one line."""
        return " ".join([self.name, *map(_usage_of, self.arguments)])

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments `words` (without the command's name).

        Values may start with a dash. The argument with nargs "..." or "...?" takes every word that is no flag,
        joined by blanks, so that an expression need not be quoted.

        Raises:
            TfdbgError: they do not fit.

        """
        flags = {flag: argument for argument in self.arguments for flag in argument.flags if not argument.positional}
        bound: list[str] = []
        rest: list[str] = []
        takes_rest = any(argument.nargs.startswith("...") for argument in self.arguments)
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            argument = flags.get(word)
            takes_one = argument is not None and not argument.switch and not argument.nargs
            if takes_one and waiting and waiting[0] not in flags:
                # argparse would mistake a value such as -inf for a flag.
                bound.append(f"{word}={waiting.pop(0)}")
            elif argument is not None or not takes_rest or word.split("=")[0] in flags:
                bound.append(word)
            else:
                rest.append(word)
        # A leading blank keeps argparse from mistaking -`x:0` for a flag.
        options, left = self.parser.parse_known_args([*bound, " " + " ".join(rest)] if rest else bound)
        if left:
            from tfdbg_cli.commands.shell_habits import left_over  # what is typed as a rule leaves nothing over

            raise left_over(self.name, left, self._with_query(options, left), self._with_times(options, left))
        for argument in self.arguments:
            # argparse parses `--flag=--` as an empty list.
            if getattr(options, argument.dest) == [] and argument.nargs != "*":
                self.parser.error(f"argument {'/'.join(argument.flags)}: -- is no value")
        return options

    def _with_query(self, options: argparse.Namespace, words: Sequence[str]) -> str:
        """The command string for `options` with `words` as a part of its query; empty where it takes none."""
        if not any("--query" in argument.flags for argument in self.arguments):
            return ""
        return self.spell(options, query=" ".join([options.query, *words]).strip())

    def _with_times(self, options: argparse.Namespace, words: Sequence[str]) -> str:
        """The command string for `options` and as many times as `words` say; empty where they or it say no number."""
        times = next((one.dest for one in self.arguments if "-t" in one.flags and one.type is int), "")
        return self.spell(options, **{times: words[0]}) if times and len(words) == 1 and words[0].isdecimal() else ""

    def spell(self, options: argparse.Namespace, **changes: Any) -> str:
        """The inverse of `parse`, used for links: the command string for `options` with `changes` (by attribute).

        All other arguments are kept, as a link that only changes the sort order must do.
        """
        words = [self.aliases[0] if self.aliases else self.name]
        for argument in self.arguments:
            value = changes.get(argument.dest, getattr(options, argument.dest))
            if value is None or value == argument.default or (argument.switch and not value):
                continue
            flag = "" if argument.positional else min(argument.flags, key=len)
            if argument.nargs == "*":
                words += [flag] * bool(flag) + [quoted(str(one)) for one in value]
                continue
            text = "" if argument.switch else str(value).strip()
            if flag and text.startswith("-"):
                words.append(f"{flag}={quoted(text)}")
            else:
                words += [flag] * bool(flag) + [quoted(text)] * (not argument.switch)
        return " ".join(words)


def _metavar(argument: Argument) -> str:
    """What stands for the value, in the usage and in errors."""
    return argument.metavar or "|".join(argument.choices) or argument.dest.upper()


def _usage_of(argument: Argument) -> str:
    metavar = _metavar(argument)
    if argument.positional:
        return f"[{metavar}]" if argument.nargs in {"?", "*", "...?"} else metavar
    flag = min(argument.flags, key=len)
    return f"[{flag}]" if argument.switch else f"[{flag} {metavar}]"


_WIDTH = 80  # any width will do: argparse's own help is never shown


class _Parser(RaisingParser):
    """A parser of the words behind a command."""

    def failure(self, message: str) -> TfdbgError:
        return TfdbgError(f"{self.prog}: {message}.", hint=f"See `help {self.prog}`.")


def _parser(command: Command) -> argparse.ArgumentParser:
    shown = partial(argparse.HelpFormatter, width=_WIDTH)  # by default it asks for the terminal's at each argument
    parser = _Parser(prog=command.name, add_help=False, allow_abbrev=True, formatter_class=shown)
    for argument in command.arguments:
        options: dict[str, Any] = {"help": argument.help}
        if argument.switch:
            options["action"] = "store_true"
        else:
            options |= {"type": argument.type, "default": argument.default}
            metavar = _metavar(argument) if argument.positional else argument.metavar
            options |= {"metavar": metavar} if metavar else {}
            options |= {"choices": argument.choices} if argument.choices else {}
            nargs = argument.nargs.removeprefix("...")
            options |= {"nargs": nargs} if nargs else {}
        if not argument.positional:
            options["dest"] = argument.dest
        parser.add_argument(*argument.flags, **options)
    return parser


@dataclass(frozen=True)
class CommandSource:
    """Commands that `make` creates when one of them is first needed.

    `names` are all their names and aliases, `moments` all stops at which any of them can be used. By these a registry
    finds the right source without making the commands of the others.
    """

    names: tuple[str, ...]
    make: Callable[[], Sequence[Command]]
    moments: frozenset[Moment] = EVERYWHERE

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands, made on first access.

        Raises:
            ValueError: their names or moments are not those declared, which is a programming error.

        """
        made = tuple(self.make())
        names = {name for command in made for name in (command.name, *command.aliases)}
        if names != set(self.names) or any(not command.moments <= self.moments for command in made):
            raise ValueError(f"the commands called {' '.join(self.names)} go by {' '.join(sorted(names))}")
        return made

    def named(self, name: str) -> Iterator[Command]:
        """Those of the commands that go by `name`."""
        return (command for command in self.commands if name in {command.name, *command.aliases})


class Registry:
    """Commands by name and alias. A name may mean one command in the stepper and another one elsewhere."""

    def __init__(self) -> None:
        self._sources: list[CommandSource] = []
        self._names: dict[str, list[CommandSource]] = {}

    def add(self, command: Command) -> None:
        """Register `command`; a name or alias that is taken for the same moments is a programming error."""
        for name in (command.name, *command.aliases):
            for source in self._names.get(name, ()):
                for other in source.named(name):
                    _require_apart(name, command, other)
        self.expect(CommandSource((command.name, *command.aliases), lambda: (command,), command.moments))

    def expect(self, source: CommandSource) -> None:
        """Register the commands of `source`, which are made when they are needed."""
        for name in dict.fromkeys(source.names):
            self._names.setdefault(name, []).append(source)
        self._sources.append(source)

    def find(self, name: str, moment: Moment | None = None, rest: Sequence[str] = ()) -> Command:
        """The command with the name or alias `name`: of those for `moment`, the one with the fewest moments.

        If none is for `moment`, any of that name, so that the caller can say why it does not work here.

        Raises:
            TfdbgError: nothing has that name; the hint names the nearest, or what to type for it and `rest`.

        """
        if name not in self._names:
            from tfdbg_cli.commands.debugger_habits import debugger_habit
            from tfdbg_cli.commands.shell_habits import parted

            known = self._names if moment is None else self.names_at(moment)
            hint = (
                _ELSEWHERE.get(name)
                or parted(name)
                or debugger_habit(name, rest, live=moment in LIVE)
                or did_you_mean(name, known)
                or "`help` lists the commands."
            )
            raise TfdbgError(f"There is no command {name!r}.", hint=hint)
        sources = self._names[name]
        here = [command for source in sources if moment in source.moments for command in source.named(name)]
        return min(
            (one for one in here if moment in one.moments),
            key=lambda one: len(one.moments),
            default=None,
        ) or next(sources[0].named(name))

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Command]:
        """Every command, in order. Makes all of them, and so is where clashes of names are found.

        Raises:
            ValueError: a name means two commands at one moment, or a source gives other commands than it said.

        """
        for name, sources in self._names.items():
            known = [command for source in sources for command in source.named(name)]
            for first, second in combinations(known, 2):
                _require_apart(name, first, second)
        return (command for source in self._sources for command in source.commands)

    def names(self) -> list[str]:
        """Every name and alias."""
        return list(self._names)

    def names_at(self, moment: Moment) -> list[str]:
        """The names and aliases that can be used at `moment`."""
        return [name for name in self._names if moment in self.find(name, moment).moments]


def _require_apart(name: str, command: Command, other: Command) -> None:
    """Raise ValueError if two commands of one `name` share moments and neither's moments are within the other's."""
    if not (
        other.moments < command.moments
        or command.moments < other.moments
        or other.moments.isdisjoint(command.moments)
    ):
        raise ValueError(f"command name {name!r} is taken by {other.name}")
