"""Which scopes of a tree stand folded: as a person left them, else as the list begins."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError


class Folds:
    """The scopes of one list that were folded or unfolded at this prompt."""

    def __init__(self) -> None:
        self._is_open: dict[str, bool] = {}

    def is_open(self, scope: str, otherwise: bool) -> bool:
        """Whether what is in `scope` is shown, `otherwise` where nobody said so."""
        return self._is_open.get(scope, otherwise)

    def follow(self, options: argparse.Namespace, known: Callable[[str], bool]) -> None:
        """Do what `--fold` and `--unfold` ask for; what is `known` is a scope.

        Raises:
            TfdbgError: that is no scope of this list.

        """
        for scope, is_open in ((options.unfold, True), (options.fold, False)):
            if scope and not known(scope):
                raise TfdbgError(
                    f"There is no scope {scope!r} here.", hint="Scopes are written in full: model/dense."
                )
            if scope:
                self._is_open[scope] = is_open


def unfolded(names: Sequence[str], is_open: Callable[[str], bool]) -> tuple[list[str], dict[str, bool]]:
    """Of `names`, in the order of their tree, those shown; by name whether those that hold others are open."""
    shown: list[str] = []
    signs: dict[str, bool] = {}
    closed = ""
    for at, name in enumerate(names):
        if closed and name.startswith(closed):
            continue
        shown.append(name)
        if at + 1 < len(names) and names[at + 1].startswith(f"{name}/"):
            signs[name] = is_open(name)
            closed = "" if signs[name] else f"{name}/"
    return shown, signs


def sign(is_open: bool | None) -> str:
    """What stands before a row: + where it is folded, - where it is not; nothing where there is nothing in it."""
    return "  " if is_open is None else "- " if is_open else "+ "


def fold_command(command: str, scope: str, is_open: bool) -> str:
    """The command string that shows the list of `command` with `scope` folded if it `is_open`, else unfolded."""
    words = list(parse_line(command).words)
    for flag in ("--fold", "--unfold"):
        while flag in words:
            at = words.index(flag)
            del words[at : at + 2]
    return " ".join([*map(quoted, words), "--fold" if is_open else "--unfold", quoted(scope)])


def folds_at(link: str) -> str:
    """The scope that following `link` folds or unfolds in its list; empty where it does something else."""
    words = parse_line(link).words
    return words[-1] if len(words) > 2 and words[-2] in ("--fold", "--unfold") else ""
