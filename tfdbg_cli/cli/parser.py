"""The words of a command line, read by argparse, with errors of tfdbg."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.raising_parser import RaisingParser
from tfdbg_cli.terminal_facts import columns


class _Help(argparse.HelpFormatter):
    """Help that is as wide as the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns() - 2)

    def add_argument(self, action: argparse.Action) -> None:
        """As argparse's, with room for the names of verbs, which stand further in than it reckons with."""
        super().add_argument(action)
        for one in self._iter_indented_subactions(action):
            room = len(self._format_action_invocation(one)) + self._current_indent + self._indent_increment
            self._action_max_length = max(self._action_max_length, room)


class Parser(RaisingParser):
    """A parser of the words behind `tfdbg`.

    If `takes_program`, all words from the first positional one on belong to a program, and become the attribute
    `program` of the result.
    """

    takes_program = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, after splitting off `program`. Nothing is left unknown.

        Raises:
            TfdbgError: a word is no argument of this verb, of which the hint names the help.

        """
        own, program = self.split(args) if self.takes_program else (args, [])
        options, unknown = super().parse_known_args(own, namespace)
        if unknown:
            raise self._unknown(unknown)
        if self.takes_program:
            options.program = program
        return options, unknown

    def _unknown(self, words: Sequence[str]) -> TfdbgError:
        from tfdbg_cli.model.names import nearest  # a start of tfdbg waits for all that is imported above

        known = [
            flag
            for flag, action in self._option_string_actions.items()
            if flag.startswith("--") and flag != "--help" and action.help is not argparse.SUPPRESS
        ]  # what no help lists is there to be refused
        flags = (word.partition("=")[0] for word in words if word.startswith("--"))
        meant = dict.fromkeys(near for flag in flags for near in nearest(flag, known, most=1))
        hint = f"Did you mean {' and '.join(meant)}? " if meant else ""
        return TfdbgError(
            f"Unrecognized arguments: {' '.join(words)}.", hint=f"{hint}`{self.prog} --help` lists what there is."
        )

    def split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Split into our own words and those of the program, whose options are not parsed."""
        at = 0
        while at < len(words) and words[at].startswith("-") and words[at] != "-":
            word = words[at]
            if word == "--":
                return list(words[:at]), list(words[at + 1 :])
            at += 2 if self._has_value(word) else 1
            if word.startswith(("-m", "--module")):  # everything after it is for the module
                break
        return list(words[:at]), list(words[at:])

    def _has_value(self, word: str) -> bool:
        """Whether `word` is an option whose value is the next word."""
        action = self._option_string_actions.get(word)
        return action is not None and action.nargs != 0
