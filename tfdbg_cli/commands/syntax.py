"""Splitting a command string into words, and finding `> file`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.errors import TfdbgError

_OPENING = "[({"
_CLOSING = "])}"
_REPLACING = ">|"  # as shells have it that keep files from being overwritten
_QUOTES = "'\""
_SPECIAL = re.compile(r"[\s'\"`\[\](){}>]")
_CONDITION = frozenset({"when", "if"})  # words behind which `>` compares
_QUERY = ("-q", "--query")  # flags behind which `size>1M` compares
# `-e >100us` and `-e >=2`: an interval behind a flag, not the name of a file.
_INTERVAL = re.compile(r">=?\s*[-+.\d]+\s*[a-zA-Z]*$")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command string taken apart; `redirect` is the file named after `>`, empty without one.

    `replace` says that `>|` stood there: the file may be replaced.
    """

    words: tuple[str, ...]
    redirect: str = ""
    replace: bool = False


@dataclass(slots=True)
class _Word:
    """A word being read; `arrows` are the places of `>` in it that stand outside quotes and brackets."""

    text: str = ""
    arrows: tuple[int, ...] = ()
    started: bool = False  # '' is a word although it is empty

    def add(self, char: str, *, bare: bool = False) -> None:
        if bare and char == ">":
            self.arrows += (len(self.text),)
        self.text += char
        self.started = True


def quoted(text: str) -> str:
    """`text` spelled so that `parse_line` reads it back as one word, with quotes only where they are needed."""
    if text and not _SPECIAL.search(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def parse_line(text: str) -> CommandLine:
    """Take `text` apart: `lt -f has_nan > out.txt` has the words lt, -f, has_nan and the redirect out.txt.

    `> FILE`, `>FILE`, `CMD>FILE`, and `>|` in the place of `>`, at the end redirect. A `>` inside quotes, backticks
    or brackets does not, nor does `>=`, nor an interval behind a flag (`-e >100us`), nor the query behind `-q`, nor
    one before a number that is behind `when`.

    Raises:
        TfdbgError: something does not close, no file follows the `>`, or a number does.

    """
    found = list(_words(text))
    words = tuple(word.text for word in found)
    if not words or not _ends_in_redirect(found):
        return CommandLine(words)
    last = found[-1]
    if len(found) > 1 and _is_arrow(found[-2]):
        head, file = words[:-2], last.text
        replace = found[-2].text == _REPLACING
    else:
        at = last.arrows[0]
        head = (*words[:-1], last.text[:at]) if at else words[:-1]
        replace = last.text[at + 1 : at + 2] == "|"
        file = last.text[at + 1 + replace :]
    if not file:
        raise TfdbgError("No file is named after `>`.", hint="Write: COMMAND > FILE")
    if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", file):
        if _CONDITION.intersection(words):
            return CommandLine(words)
        raise TfdbgError(
            f"`> {file}` would write a file called {file}.",
            hint=f"To compare, quote the expression; for the file write > ./{file}.",
        )
    return CommandLine(head, file, replace)


def _is_arrow(word: _Word) -> bool:
    return word.text in (">", _REPLACING) and bool(word.arrows)


def _ends_in_redirect(found: list[_Word]) -> bool:
    last = found[-1]
    if len(found) > 2 and _is_arrow(found[-2]):
        return True
    if not last.arrows:
        return False
    at = last.arrows[0]
    in_query = (len(found) > 1 and found[-2].text in _QUERY) or last.text.partition("=")[0] in _QUERY
    if in_query or last.text[at + 1 : at + 2] == "=":
        return False
    before = last.text[:at] if at else found[-2].text if len(found) > 1 else ""
    after_flag = before.startswith("-") and (not at or before.endswith("="))
    return not (after_flag and _INTERVAL.match(last.text[at:]))


def _words(text: str) -> Iterator[_Word]:
    word = _Word()
    closers: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if not closers and char in _QUOTES and _quote_opens(word):
            at = _quoted_part(text, at, word)
            continue
        if closers and closers[-1] in "'\"`":
            if char == closers[-1]:
                closers.pop()
            word.add(char)
        elif char == "`" or (closers and char in _QUOTES):
            closers.append(char)
            word.add(char)
        elif char in _OPENING:
            closers.append(_CLOSING[_OPENING.index(char)])
            word.add(char)
        elif char in _CLOSING:
            # An interval such as [1us,5ms) ends in another bracket than it starts with.
            if closers:
                closers.pop()
            word.add(char)
        elif char.isspace() and not closers:
            if word.started:
                yield word
            word = _Word()
        else:
            word.add(char, bare=not closers)
        at += 1
    if closers:
        raise TfdbgError(
            f"A closing {closers[-1]} is missing in {text.strip()!r}.", hint="Quotes make it plain text."
        )
    if word.started:
        yield word


def _quote_opens(word: _Word) -> bool:
    return not word.text or (word.text.startswith("-") and word.text.endswith("="))


def _quoted_part(text: str, start: int, word: _Word) -> int:
    """Read the quoted text at `start` into `word`; the place behind it."""
    quote = text[start]
    word.started = True
    at = start + 1
    while at < len(text):
        if text[at] != quote:
            word.add(text[at])
        elif text[at + 1 : at + 2] == quote:
            word.add(quote)
            at += 1
        else:
            return at + 1
        at += 1
    raise TfdbgError(f"A closing {quote} is missing in {text.strip()!r}.")
