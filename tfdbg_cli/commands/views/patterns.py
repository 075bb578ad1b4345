"""Regular expressions typed by a person."""

from __future__ import annotations

import re
import warnings

from tfdbg_cli.errors import TfdbgError


def pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """`text` compiled; it searches anywhere in a name. Made for `Argument.type`-free use in handlers.

    Raises:
        TfdbgError: it is no regular expression; says what is wrong with it.

    """
    try:
        if "[" not in text:
            return re.compile(text, flags)
        with warnings.catch_warnings():
            # What Python's syntax may mean one day (`[[a]`) is nothing to tell a person who wants it to match today.
            # Not asked for otherwise: it makes Python forget which warnings the program has shown already.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(text, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise TfdbgError(
            f"{text!r} is not a regular expression: {error}.",
            hint="It searches anywhere; put a backslash before . [ ( * + ? to mean the character.",
        ) from None


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
