"""Regular expressions typed by a user."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from tfdbg_cli.errors import TfdbgError


def pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """`text` compiled; it searches anywhere in a name. Made for `Argument.type`-free use in handlers.

    Raises:
        TfdbgError: it is no regular expression, or one that may take for ever; says what is wrong with it.

    """
    try:
        with _unwarned(text):
            found, endless = re.compile(text, flags), _may_be_endless(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise TfdbgError(
            f"{text!r} is not a regular expression: {error}.",
            hint="It searches anywhere; put a backslash before . [ ( * + ? to mean the character.",
        ) from None
    if endless:
        raise TfdbgError(
            f"{text!r} repeats what repeats already, which may take for ever.",
            hint="One repetition finds the same: `a+` in the place of `(a+)+`, `.*` of `.*.*.*`.",
        )
    return found


def _may_be_endless(text: str) -> bool:
    if sum(map(text.count, "*+{")) < 2:
        return False
    from tfdbg_cli.commands.asked.slow_patterns import repeats_repetition  # most patterns repeat nothing

    return repeats_repetition(text)


@contextmanager
def _unwarned(text: str) -> Iterator[None]:
    """A context in which what Python's syntax may mean one day (`[[a]`) is told nobody who wants it to match today.

    Only where `text` may bring a warning: it makes Python forget which warnings the program has shown already.
    """
    if "[" not in text:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def search_pattern(text: str) -> re.Pattern[str]:
    r"""`text` compiled for searching in what is shown: it ignores case unless it has a capital letter.

    Raises:
        TfdbgError: it is no regular expression.

    """
    # A capital in an escape such as \S or \W asks for nothing.
    capital = any(c.isupper() for c in re.sub(r"\\.", "", text))
    return pattern(text, re.NOFLAG if capital else re.IGNORECASE)


def search_text(text: str) -> str:
    """`text`, known to be a regular expression."""
    pattern(text)
    return text
