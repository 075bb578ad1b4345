"""Which nodes of one run are which of another, where a user says so: `--map FILE`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import count_text


@dataclass(frozen=True)
class RenameRule:
    r"""One line: `first`, a name or a regular expression that is all of a name, and `second`, which may hold \1."""

    number: int
    first: re.Pattern[str]
    second: str


@dataclass(frozen=True)
class Renames:
    """The lines of a file."""

    lines: Sequence[RenameRule] = ()

    def pairs(self, first: Iterable[str], second: Iterable[str]) -> tuple[list[tuple[str, str]], list[int]]:
        """The pairs of names that they make, each name once, and the numbers of the lines that make none."""
        ours, theirs = list(first), dict.fromkeys(second)
        found: dict[str, str] = {}
        unused = []
        for rename in self.lines:
            count = len(found)
            for name in ours if rename.first.groups or not _is_plain(rename.first) else _known(rename, ours):
                match = rename.first.fullmatch(name)
                other = _expanded(match, rename) if match else None
                if other in theirs and name not in found:
                    found[name] = other
                    del theirs[other]
            if len(found) == count:
                unused.append(rename.number)
        return list(found.items()), unused


def parsed_renames(text: str) -> Renames:
    """The renames that `text` holds: lines of two names, blank lines, and comments behind `#`.

    Raises:
        TfdbgError: a line is no such thing; the message has its number.

    """
    found = []
    for number, row in enumerate(text.splitlines(), 1):
        words = row.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) != 2:
            raise TfdbgError(
                f"Line {number} of the map has {count_text(len(words), 'word')}.",
                hint="Write two a line: NAME_A NAME_B.",
            )
        first, second = (word.removesuffix(":0") for word in words)
        try:
            pattern = re.compile(first)
            pattern.match("")
            re.sub(pattern, second, "")
        except (re.error, IndexError) as error:
            raise TfdbgError(
                f"Line {number} of the map is no pattern: {error}.", hint=r"Such as: a/(.*) b/\1"
            ) from None
        found.append(RenameRule(number, pattern, second))
    return Renames(found)


def _is_plain(pattern: re.Pattern[str]) -> bool:
    return not set(pattern.pattern) & set("()[]{}?*+|^$\\.")


def _known(rename: RenameRule, names: Sequence[str]) -> Sequence[str]:
    return [rename.first.pattern] if rename.first.pattern in set(names) else []


def _expanded(match: re.Match[str], rename: RenameRule) -> str | None:
    try:
        return match.expand(rename.second)
    except (re.error, IndexError):
        return None
