"""Reading a query: words, comparisons, `and`, `or`, `not` and brackets; what stands side by side must both hold."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.commands.query.facts import fact_of, regex
from tfdbg_cli.commands.query.language import (
    COMPARED,
    KEYWORD,
    Both,
    Either,
    FactTest,
    NamedQuery,
    NamePattern,
    Not,
    Query,
    QueryError,
    end_of_bare,
)

_MOST_NESTED = 50  # brackets and `not` within one another
_QUOTES = "\"'"


def parse_query(text: str) -> Query:
    """The query that `text` is; an empty one admits everything.

    Raises:
        QueryError: it cannot be read; says where.

    """
    return _Reader(text).whole()


class _Reader:
    """Reads `text` from left to right; `_at` is the place of what comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nested = 0

    def whole(self) -> Query:
        self._skip()
        if self._at == len(self._text):
            return Both(())
        found = self._either()
        if self._at < len(self._text):
            raise QueryError("no bracket is open that this one closes", self._at)
        return found

    def _either(self) -> Query:
        parts = [self._both()]
        while self._keyword("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Query:
        parts = [self._one()]
        while self._keyword("and") or self._more():
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _one(self) -> Query:
        self._skip()
        if self._at == len(self._text):
            raise QueryError(
                "something is missing at the end", self._at, hint="Such as: nan>0, dense or shape=[*,3]."
            )
        char = self._text[self._at]
        if char == "!" or self._ahead("not"):
            self._at += 1 if char == "!" else len("not")
            return Not(self._nest(self._one))
        if char == "(":
            return self._bracketed()
        if char == ")" or self._ahead("and") or self._ahead("or"):
            word = char if char == ")" else self._text[self._at : end_of_bare(self._text, self._at)]
            raise QueryError(f"something is missing before {word}", self._at, hint=f'"{word}" in quotes searches it.')
        return self._comparison() or self._word()

    def _bracketed(self) -> Query:
        opened = self._at
        self._at += 1
        found = self._nest(self._either)
        if self._at == len(self._text):
            raise QueryError("this bracket is not closed", opened, hint="Quotes make a bracket part of a word.")
        self._at += 1
        self._skip()
        return found

    def _nest(self, read: Callable[[], Query]) -> Query:
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise QueryError("this is nested too deeply", self._at)
        found = read()
        self._nested -= 1
        return found

    def _comparison(self) -> FactTest | None:
        match = COMPARED.match(self._text, self._at)
        if match is None:
            return None
        start, self._at = self._at, match.end()
        value_at = self._at
        name = match[1] or match[3]
        value = self._value(shape=name.lower() == "shape")
        sign = "=" if match[2] in ("==", None) else match[2]
        fact = fact_of(FactTest(name, sign, value, start, value_at))
        self._skip()
        return FactTest(fact.name, sign, value, start, value_at)

    def _value(self, *, shape: bool) -> str:
        if self._at < len(self._text) and self._text[self._at] in _QUOTES:
            return self._quoted()
        start = self._at
        if shape and self._text.startswith("[", start) and "]" in self._text[start:]:
            self._at = self._text.index("]", start) + 1  # blanks may stand in it
        else:
            self._at = end_of_bare(self._text, start)
        return self._text[start : self._at]

    def _word(self) -> NamePattern | NamedQuery:
        start = self._at
        if self._text[start] in _QUOTES:
            found = self._quoted()
        else:
            self._at = end_of_bare(self._text, start)
            found = self._text[start : self._at]
            if found.startswith("@"):
                self._skip()
                return NamedQuery(found[1:], start)
        regex(found, start)
        self._skip()
        return NamePattern(found, start)

    def _quoted(self) -> str:
        start, quote = self._at, self._text[self._at]
        at = start + 1
        found = ""
        while at < len(self._text):
            if self._text[at] != quote:
                found += self._text[at]
            elif self._text.startswith(quote * 2, at):
                found += quote
                at += 1
            else:
                self._at = at + 1
                return found
            at += 1
        raise QueryError("this quote is not closed", start)

    def _keyword(self, word: str) -> bool:
        if not self._ahead(word):
            return False
        self._at += len(word)
        return True

    def _ahead(self, word: str) -> bool:
        """Whether the keyword `word` stands here, and not a word that only begins so."""
        self._skip()
        match = KEYWORD.match(self._text, self._at)
        return match is not None and match[1] == word

    def _more(self) -> bool:
        """Whether another part stands beside the last one."""
        self._skip()
        return self._at < len(self._text) and self._text[self._at] != ")" and not self._ahead("or")

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
