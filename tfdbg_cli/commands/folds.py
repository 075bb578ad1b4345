"""Which scopes of a tree are folded: as the user has set them, else by the list's own default."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError

EVERY = "*"  # stands for all scopes of a list


@dataclass(frozen=True)
class Folds:
    """The scopes of one list that were folded or unfolded at this prompt. Immutable; `followed` applies a command.

    `said` maps scopes that were named to whether they are open, `levels` those that were unfolded by more than one
    level to how many. `every` says whether all others are open; None leaves that to the list.
    """

    said: Mapping[str, bool] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    every: bool | None = None

    def is_open(self, scope: str, otherwise: bool) -> bool:
        """Whether `scope` is unfolded; `otherwise` is the default of the list."""
        known = self.said.get(scope)
        if known is None and self.levels and self._is_within(scope):
            return True
        return known if known is not None else otherwise if self.every is None else self.every

    def _is_within(self, scope: str) -> bool:
        """Whether an enclosing scope was unfolded by enough levels to open this one, too."""
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
        """These folds after the `--fold`, `--unfold` and `--levels` of `options`; `known` says what is a scope.

        Raises:
            TfdbgError: they name no scope of this list, or `--levels` is below 1 or without `--unfold`.

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
    """The visible ones of `names`, which are in the order of their tree; and of each visible scope, if it is open."""
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
    """The two characters before a row: + if it is folded, - if it is open, blanks (None) if it is no scope."""
    return "  " if is_open is None else "- " if is_open else "+ "


def fold_command(command: str, scope: str, is_open: bool, levels: int = 1) -> str:
    """The command string that toggles `scope` in the list of `command`: it folds the scope if it `is_open` now.

    Else it unfolds the scope, by so many `levels`.
    """
    words = list(parse_line(command).words)
    for flag in ("--fold", "--unfold", "--levels"):
        while flag in words:
            at = words.index(flag)
            del words[at : at + 2]
    deep = [] if is_open or levels < 2 else ["--levels", str(levels)]
    return " ".join([*map(quoted, words), *deep, "--fold" if is_open else "--unfold", quoted(scope)])


def folds_at(link: str) -> str:
    """The scope that the command string `link` folds or unfolds; empty if it does something else."""
    words = parse_line(link).words
    return words[-1] if len(words) > 2 and words[-2] in ("--fold", "--unfold") else ""
