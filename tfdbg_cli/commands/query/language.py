"""What a query consists of, and how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from tfdbg_cli.errors import TfdbgError

# A word may not look like a keyword: what stands behind one is a blank, a bracket, or the end.
KEYWORD = re.compile(r"(and|or|not)(?=[\s()]|$)")
# What stands before a sign is the name of a fact, so a word may not look so. Behind the name of a node and
# a colon stands the number of an output, so the name of a worker may stand there.
COMPARED = re.compile(r"(?:([A-Za-z_]\w*)\s*(!=|!~|==|<=|>=|=|~|<|>)|(worker):(?=[A-Za-z]))\s*")


class QueryError(TfdbgError):
    """A query that cannot be read or asked. `at` is the place in its text, counted from 0, where that shows."""

    def __init__(self, message: str, at: int, *, hint: str = "") -> None:
        super().__init__(f"The query, column {at + 1}: {message}.", hint=hint)
        self.reason = message
        self.at = at


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A regular expression that is searched in the name of a row. `at` is its place in the text of the query."""

    text: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FactTest:
    """A fact of a row against a value, as it was typed. `at` is the place of the fact, `value_at` of the value."""

    fact: str
    sign: str
    value: str
    at: int = field(default=0, compare=False)
    value_at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """What the query that a user called `name` admits."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """What its part is not."""

    part: Query


@dataclass(frozen=True, slots=True)
class Both:
    """What all parts admit; without parts everything."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """What one of the parts admits."""

    parts: tuple[Query, ...]


Query: TypeAlias = NamePattern | FactTest | NamedQuery | Not | Both | Either


def written(query: Query) -> str:
    """The query as text that reads back as the same one."""
    match query:
        case NamePattern(text):
            bare = _is_bare(text) and text[0] != "@" and not KEYWORD.match(text) and not COMPARED.match(text)
            return text if bare else _quoted(text)
        case FactTest(fact, sign, value):
            bare = _is_bare(value) and not value.startswith("=")  # it would become part of the sign
            return f"{fact}{sign}{value if bare else _quoted(value)}"
        case NamedQuery(name):
            return f"@{name}"
        case Not(part):
            return f"not {_within(part, (Both, Either))}"
        case Both(parts):
            return " and ".join(_within(part, (Both, Either)) for part in parts)
        case Either(parts):
            return " or ".join(_within(part, (Either,)) for part in parts)


def _within(part: Query, bracketed: tuple[type, ...]) -> str:
    return f"({written(part)})" if isinstance(part, bracketed) else written(part)


def _is_bare(text: str) -> bool:
    """Whether `text` reads back as one word without quotes, also before a bracket that closes."""
    return bool(text) and text[0] not in "\"'(!" and end_of_bare(f"{text})", 0) == len(text)


def end_of_bare(text: str, start: int) -> int:
    """Where the word at `start` ends: before a blank, or a bracket that it did not open itself."""
    open_brackets = 0
    at = start
    while at < len(text):
        char = text[at]
        if char.isspace() or (char == ")" and not open_brackets):
            return at
        if char == "\\" and at + 1 < len(text) and not text[at + 1].isspace():
            at += 1
        elif char in "()":
            open_brackets += 1 if char == "(" else -1
        at += 1
    return at


def _quoted(text: str) -> str:
    """`text` in quotes, those inside it doubled."""
    return '"' + text.replace('"', '""') + '"'
