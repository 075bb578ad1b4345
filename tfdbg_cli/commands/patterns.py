"""Regular expressions typed by a person."""

from __future__ import annotations

import re

from tfdbg_cli.errors import TfdbgError


def pattern(text: str) -> re.Pattern[str]:
    """`text` compiled; it searches anywhere in a name. Made for `Argument.type`-free use in handlers.

    Raises:
        TfdbgError: it is no regular expression; says what is wrong with it.

    """
    try:
        return re.compile(text)
    except re.error as error:
        raise TfdbgError(
            f"{text!r} is not a regular expression: {error}.",
            hint="It searches anywhere in the name; put a backslash before . [ ( * + ? to mean the character.",
        ) from None


def search_text(text: str) -> str:
    """`text`, known to be a regular expression."""
    pattern(text)
    return text
