"""Seconds as a user types them behind an option: a time that a clock can wait for."""

from __future__ import annotations

import argparse
import math
from contextlib import suppress

# Some thirty years. Waits fail somewhere beyond, by what the clock shows: then a program would have begun already.
_LONGEST = 1e9
NOT_ABOVE_0 = "Times are numbers of seconds above 0."


def seconds(text: str) -> float:
    """The number of seconds that `text` is, negative ones included: which make sense is for the option to say.

    Raises:
        argparse.ArgumentTypeError: it is no number, NaN, or longer than Python can wait.

    """
    with suppress(ValueError):
        found = float(text)
        if math.isfinite(found) and found <= _LONGEST:
            return found
    raise argparse.ArgumentTypeError(f"a number of seconds is needed, at most {_LONGEST:.0f}, not {text!r}")
