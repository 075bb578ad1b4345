"""At which lines of a Python source something runs, told by its text alone."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence

_NOTHING = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)
_HEADS = frozenset({("else", ":"), ("try", ":"), ("finally", ":")})
_DECLARES = frozenset({"global", "nonlocal"})
_CLOSES = frozenset(")]},")


def running_line(lines: Sequence[str], number: int) -> int:
    """Line `number` (from 1) of `lines` where something runs there, else the one that is meant by it.

    That is the first line of the statement that it is a part of, or else the next line at which something runs: 0
    where there is none. Of a text that is no Python it is `number`.
    """
    try:
        meant = {at: first for held in _statements(lines) for at, first in _lines_of(held).items()}
    except (tokenize.TokenError, SyntaxError):
        return number
    return meant.get(number) or min((at for at in meant if at > number), default=0)


def statement_at(lines: Sequence[str], number: int) -> range:
    """The lines of the statement that line `number` (from 1) is a part of; none where there is no such statement."""
    try:
        held = ((words[0].start[0], words[-1].end[0]) for words in _statements(lines))
        return next((range(first, last + 1) for first, last in held if first <= number <= last), range(0))
    except (tokenize.TokenError, SyntaxError):
        return range(0)


def _statements(lines: Sequence[str]) -> Iterator[Sequence[tokenize.TokenInfo]]:
    """The words of each statement at which something runs; what stands in a body is a statement of its own.

    Raises:
        TokenError, SyntaxError: the text is no Python.

    """
    held: list[tokenize.TokenInfo] = []
    text = "\n".join(line.rstrip("\n") for line in lines)
    for token in tokenize.generate_tokens(io.StringIO(f"{text}\n").readline):
        if token.type not in _NOTHING:
            held.append(token)
        elif token.type == tokenize.NEWLINE:
            if not _runs_nothing(held):
                yield held
            held = []


def _runs_nothing(held: Sequence[tokenize.TokenInfo]) -> bool:
    words = tuple(token.string for token in held)
    alone = all(token.type == tokenize.STRING for token in held)  # a docstring, or a comment in quotes
    return not held or alone or words in _HEADS or words[0] in _DECLARES


def _lines_of(held: Sequence[tokenize.TokenInfo]) -> Mapping[int, int]:
    """For each line of a statement which is meant: that line, or the first where nothing that runs stands there.

    Of the latter kind are comments, brackets that close, and what follows the first line of a text.
    """
    first = held[0].start[0]
    running = {token.start[0] for token in held if token.string not in _CLOSES}
    return {at: at if at in running else first for at in range(first, held[-1].end[0] + 1)}
