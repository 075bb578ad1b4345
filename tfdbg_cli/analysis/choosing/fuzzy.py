"""Fuzzy finding: whether a name holds the letters that a user typed, in order, where, and how well.

The better the place of the letters, the better the rank: the whole name, its beginning, the beginning of a word in
it, the first letters of its words, the middle of a word, letters here and there. A word begins behind `/`, `_` and
the like, at a capital behind a small letter, and at a digit behind a letter. Of equal ranks the shorter name counts.
Letters match whatever their case, unless a capital was typed. Blanks part words that each have to be there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

# The smaller the better: the class of the place, what its letters miss of an ideal one, how long the name is.
Rank: TypeAlias = tuple[int, int, int]
_WHOLE, _BEGINNING, _WORD, _INITIALS, _INSIDE, _SCATTERED = range(6)
_RUN, _GAP = 4, 1  # what a new run of letters costs, and each letter between two
_LONGEST = 200  # letters of a query


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """Where the letters stand in a name, from the left, and how good that is."""

    rank: Rank
    places: tuple[int, ...]


class FuzzyPattern:
    """What a user typed, ready to be asked of many names."""

    def __init__(self, text: str) -> None:
        self._cased = text != text.lower()
        words = text[:_LONGEST].split()
        self._words = words if self._cased else [word.lower() for word in words]
        self._tests: list[Callable[[str], object]] = [_in_order(word, self._cased) for word in self._words]

    def __bool__(self) -> bool:
        return bool(self._words)

    def holds(self, name: str) -> bool:
        """Whether `name` has all letters of each word in order: quick, for names that are many."""
        return all(test(name) for test in self._tests)

    def match(self, name: str) -> FuzzyMatch | None:
        """Where the words stand in `name`; None where one of them does not."""
        folded = name if self._cased else _lower(name)
        worst, cost = _WHOLE, 0
        places: set[int] = set()
        for word in self._words:
            found = _place(word, folded, name)
            if found is None:
                return None
            place, missed, at = found
            worst, cost = max(worst, place), cost + missed
            places.update(at)
        return FuzzyMatch((worst, cost, len(name)), tuple(sorted(places)))


def _lower(name: str) -> str:
    """`name` in small letters, each at the place that it has in `name`."""
    small = name.lower()
    return small if len(small) == len(name) else "".join(char.lower()[:1] for char in name)


def _in_order(word: str, cased: bool) -> Callable[[str], object]:
    """What finds the letters of `word` in order, in time that grows with the length of the name alone."""
    pattern = "".join(f"[^{re.escape(char)}]*{re.escape(char)}" for char in word)
    return re.compile(pattern, re.NOFLAG if cased else re.IGNORECASE).match


def _place(word: str, folded: str, name: str) -> tuple[int, int, range | list[int]] | None:
    """The best place of `word` in `folded`: its class, what it misses, and where its letters are."""
    at = folded.find(word)
    if at == 0:
        return (_WHOLE if len(word) == len(name) else _BEGINNING), 0, range(len(word))
    first = at
    while at >= 0:
        if _begins_word(name, at):
            return _WORD, 0, range(at, at + len(word))
        at = folded.find(word, at + 1)
    initials = _initials(word, folded, name)
    if initials is not None:
        return _INITIALS, _missed(initials), initials
    if first >= 0:
        return _INSIDE, 0, range(first, first + len(word))
    scattered = _scattered(word, folded)
    return None if scattered is None else (_SCATTERED, _missed(scattered), scattered)


def _begins_word(name: str, at: int) -> bool:
    if not at:
        return True
    before, char = name[at - 1], name[at]
    if not before.isalnum():
        return char.isalnum()
    return (char.isupper() and not before.isupper()) or (char.isdigit() and not before.isdigit())


def _initials(word: str, folded: str, name: str) -> list[int] | None:
    """The letters of `word` each behind the one before, or at the beginning of a later word of `name`."""
    found: list[int] = []
    at = -1
    for char in word:
        if found and at + 1 < len(folded) and folded[at + 1] == char:
            at += 1
        else:
            at = folded.find(char, at + 1)
            while at >= 0 and not _begins_word(name, at):
                at = folded.find(char, at + 1)
            if at < 0:
                return None
        found.append(at)
    return found


def _scattered(word: str, folded: str) -> list[int] | None:
    """The letters of `word` in order: those that end first, as near together as they can be before that end."""
    at = -1
    for char in word:
        at = folded.find(char, at + 1)
        if at < 0:
            return None
    found: list[int] = []
    at += 1
    for char in reversed(word):
        at = folded.rfind(char, 0, at)
        found.append(at)
    return found[::-1]


def _missed(places: list[int]) -> int:
    """What runs and gaps cost, that letters side by side would not have."""
    gaps = [after - before - 1 for before, after in pairwise(places)]
    return sum(_RUN + _GAP * gap for gap in gaps if gap)
