"""Regular expressions that can take for ever on a line of a hundred characters, told by how they are written.

Python tries every way to divide a text among repetitions, and asks nobody meanwhile. For `(a+)+b` each letter of the
text doubles their number.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from string import printable
from typing import Any

_PARSER = importlib.import_module("re._parser")  # Python's own, which has no public name
_FEW = 8  # repetitions: as many as these are no trouble
_MOST_IN_A_ROW = 2  # of a third one a line of a few hundred letters takes seconds
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_KINDS = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip
_EVERY = frozenset(printable)

_Item = tuple[Any, Any]  # what the parser makes of a part: its kind, and what it consists of


def repeats_repetition(text: str) -> bool:
    """Whether the regular expression `text` repeats a repetition that nothing separates from the next one."""
    items = list(_PARSER.parse(text))
    every = list(_within(items))
    return any(map(_has_many_in_a_row, [items, *(part for item in every for part in _parts(item))])) or any(
        any(map(_is_many, _within(_body(item)))) and not _is_separated(_body(item))
        for item in every
        if _is_many(item)
    )


def _has_many_in_a_row(items: Sequence[_Item]) -> bool:
    """Whether repetitions that can take the same letters follow one another, more of them than a line can bear."""
    row: list[frozenset[str]] = []
    for item in _each_turn(items):
        taken = frozenset[str]().union(*map(_letters, _within(_body(item)))) if _is_many(item) else frozenset[str]()
        row = [*row, taken] if row and row[-1] & taken else [taken]
        if len(row) > _MOST_IN_A_ROW:
            return True
    return False


def _is_many(item: _Item) -> bool:
    return str(item[0]) in _REPEATS and int(item[1][1]) > _FEW


def _body(item: _Item) -> list[_Item]:
    return list(item[1][2])


def _within(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items, and all that they consist of."""
    for item in items:
        yield item
        for part in _parts(item):
            yield from _within(part)


def _parts(item: _Item) -> list[list[_Item]]:
    """The sequences that `item` consists of."""
    kind, made_of = str(item[0]), item[1]
    if kind in _REPEATS:
        return [list(made_of[2])]
    if kind == "BRANCH":
        return [list(one) for one in made_of[1]]
    if kind == "SUBPATTERN":
        return [list(made_of[3])]
    if kind == "ATOMIC_GROUP":
        return [list(made_of)]
    return []


def _is_separated(body: Sequence[_Item]) -> bool:
    """Whether something stands in each turn of a repetition that none of the repetitions in `body` can take."""
    taken = frozenset[str]().union(
        *(_letters(inner) for item in _within(body) if _is_many(item) for inner in _within(_body(item)))
    )
    return any(_letters(item) and not _letters(item) & taken for item in _each_turn(body))


def _each_turn(body: Sequence[_Item]) -> Iterator[_Item]:
    """The letters that every turn has, those in groups too."""
    for item in body:
        if str(item[0]) == "SUBPATTERN":
            yield from _each_turn(list(item[1][3]))
        else:
            yield item


def _letters(item: _Item) -> frozenset[str]:
    """The letters that `item`, one letter of the expression, can stand for; none for what is no letter."""
    kind, made_of = str(item[0]), item[1]
    if kind == "ANY":
        return _EVERY
    if kind == "LITERAL":
        return frozenset({chr(made_of).lower(), chr(made_of).upper()})
    if kind == "NOT_LITERAL":
        return _EVERY - {chr(made_of)}
    if kind == "RANGE":
        found = frozenset(map(chr, range(made_of[0], min(made_of[1], max(map(ord, _EVERY))) + 1)))
        return found | frozenset(letter.swapcase() for letter in found)
    if kind == "CATEGORY":
        return frozenset(re.findall(_KINDS[str(made_of)], printable))
    if kind == "IN":
        parts = [part for part in made_of if str(part[0]) != "NEGATE"]
        found = frozenset[str]().union(*map(_letters, parts))
        return found if len(parts) == len(made_of) else _EVERY - found
    return frozenset()
