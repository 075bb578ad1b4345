"""Which scopes of a tree stand folded: as a person left them, else as the list begins."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError

EVERY = "*"  # stands for all scopes of a list


@dataclass(frozen=True)
class Folds:
    """The scopes of one list that were folded or unfolded at this prompt; `followed` gives what comes of a command.

    `said` are those that were named, `levels` how deep scopes were unfolded that were unfolded more than one level,
    `every` whether all others are open, None where nobody said so.
    """

    said: Mapping[str, bool] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    every: bool | None = None

    def is_open(self, scope: str, otherwise: bool) -> bool:
        """Whether what is in `scope` is shown, `otherwise` where nobody said so."""
        known = self.said.get(scope)
        if known is None and self.levels and self._is_within(scope):
            return True
        return known if known is not None else otherwise if self.every is None else self.every

    def _is_within(self, scope: str) -> bool:
        """Whether a scope around it was unfolded as deep as it lies."""
        around, depth = scope, 0
        while around:
            around, depth = around.rpartition("/")[0], depth + 1
            if depth < self.levels.get(around, 0):
                return True
        return False

    @property
    def key(self) -> Hashable:
        """Equal for folds that show the same."""
        return tuple(self.said.items()), tuple(self.levels.items()), self.every

    def followed(self, options: argparse.Namespace, known: Callable[[str], bool]) -> Folds:
        """These once that is done for which `--fold` and `--unfold` ask; what is `known` is a scope.

        Raises:
            TfdbgError: that is no scope of this list, or it cannot be unfolded so deep.

        """
        if options.levels is not None and (options.levels < 1 or not options.unfold):
            raise TfdbgError("--levels says how many levels --unfold shows, from 1.")
        folds = self
        for scope, is_open in ((options.unfold, True), (options.fold, False)):
            if scope == EVERY:
                folds = Folds(every=is_open)
            elif scope and not known(scope):
                raise TfdbgError(
                    f"There is no scope {scope!r} here.", hint="Scopes are written in full: model/dense."
                )
            elif scope and is_open and (options.levels or 1) > 1:
                said = {name: it for name, it in folds.said.items() if not _is_in(name, scope, options.levels)}
                folds = replace(folds, said={**said, scope: True}, levels={**folds.levels, scope: options.levels})
            elif scope:
                folds = replace(folds, said={**folds.said, scope: is_open})
        return folds


def _is_in(name: str, scope: str, levels: int) -> bool:
    """Whether `name` lies in `scope`, less than so many levels deep."""
    return name.startswith(f"{scope}/") and name[len(scope) :].count("/") < levels


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


def fold_command(command: str, scope: str, is_open: bool, levels: int = 1) -> str:
    """The command string that shows the list of `command` with `scope` folded if it `is_open`, else unfolded.

    It is unfolded by so many `levels`.
    """
    words = list(parse_line(command).words)
    for flag in ("--fold", "--unfold", "--levels"):
        while flag in words:
            at = words.index(flag)
            del words[at : at + 2]
    deep = [] if is_open or levels < 2 else ["--levels", str(levels)]
    return " ".join([*map(quoted, words), *deep, "--fold" if is_open else "--unfold", quoted(scope)])


def folds_at(link: str) -> str:
    """The scope that following `link` folds or unfolds in its list; empty where it does something else."""
    words = parse_line(link).words
    return words[-1] if len(words) > 2 and words[-2] in ("--fold", "--unfold") else ""
