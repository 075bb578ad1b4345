"""Splitting a command string into words, and finding `> file`."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.errors import TfdbgError

_CLOSING = {"[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command string taken apart; `redirect` is the file named after `>`, empty without one."""

    words: tuple[str, ...]
    redirect: str = ""


def split_words(text: str) -> list[str]:
    """Words of `text`. Quotes and backticks hold spaces and nest in nothing; brackets hold spaces and nest.

    Quotes that wrap a whole word are taken off, backticks and brackets stay. A quote inside a word is text.

    Raises:
        TfdbgError: a quote, backtick or bracket does not close.

    """
    words: list[str] = []
    word = ""
    started = False
    closers: list[str] = []
    for char in text:
        if closers and closers[-1] in "'\"`":
            if char == closers[-1]:
                closers.pop()
                word += char if char == "`" or closers or not _wraps(word, char) else ""
            else:
                word += char
            continue
        if char in "'\"`" and (char == "`" or closers or not word):
            closers.append(char)
            started = True
            word += char if char == "`" or closers[:-1] else _OPEN_QUOTE
            continue
        if char in _CLOSING:
            closers.append(_CLOSING[char])
        elif closers and char == closers[-1]:
            closers.pop()
        if char.isspace() and not closers:
            if started or word:
                words.append(word.replace(_OPEN_QUOTE, ""))
            word, started = "", False
            continue
        word += char
    if closers:
        raise TfdbgError(f"A closing {closers[-1]} is missing in {text.strip()!r}.")
    if started or word:
        words.append(word.replace(_OPEN_QUOTE, ""))
    return words


_OPEN_QUOTE = "\0"  # marks where a wrapping quote opened, so that its end is known to wrap too


def _wraps(word: str, quote: str) -> bool:
    return word.startswith(_OPEN_QUOTE) and quote in "'\""


def parse_line(text: str) -> CommandLine:
    """Take `text` apart: `lt -f has_nan > out.txt` has the words lt, -f, has_nan and the redirect out.txt.

    A `>` inside quotes, backticks or brackets, or at the start of an option's value (`-e >100us`), is no redirect.

    Raises:
        TfdbgError: something does not close, or no file follows the `>`.

    """
    words = split_words(text)
    if words and words[-1] == ">":
        raise TfdbgError("No file is named after `>`.", hint="Write: COMMAND > FILE")
    if len(words) >= 3 and words[-2] == ">":
        return CommandLine(tuple(words[:-2]), words[-1])
    if len(words) >= 2 and words[-1].startswith(">") and not _takes_value(words[-2]) and len(words[-1]) > 1:
        return CommandLine(tuple(words[:-1]), words[-1][1:])
    last = words[-1] if words else ""
    if ">" in last[1:-1] and not set(last) & set("'\"`[]()<"):
        head, file = last.split(">", 1)
        return CommandLine((*words[:-1], head), file)
    return CommandLine(tuple(words))


def _takes_value(word: str) -> bool:
    return word.startswith("-") and not word.lstrip("-").isdigit()
