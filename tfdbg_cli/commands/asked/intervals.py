"""Intervals of time as a user types them."""

from __future__ import annotations

import re

from tfdbg_cli.analysis.times.timing import Interval
from tfdbg_cli.document.times import microseconds
from tfdbg_cli.errors import TfdbgError

_COMPARED = re.compile(r"^\s*(<=|>=|<|>)\s*(.+)$")
_BRACKETED = re.compile(r"^\s*([\[(])\s*([^,]*),\s*([^,]*?)\s*([\])])\s*$")


def time_interval(text: str) -> Interval:
    """Read `<100ms`, `>=2us`, `[1us,5ms)` in microseconds; an empty text means every time.

    Raises:
        TfdbgError: not an interval, or its ends are swapped.

    """
    if not text:
        return Interval()
    try:
        found = _read(text)
    except ValueError:
        found = None
    if found is None:
        raise TfdbgError(
            f"{text!r} is not an interval of time.", hint="Write <100ms, >=2us, or [1us,5ms) with units us, ms, s."
        )
    if found.low > found.high:
        raise TfdbgError(f"The interval {text!r} is empty: it starts after its end.")
    return found


def _read(text: str) -> Interval | None:
    compared = _COMPARED.match(text)
    if compared:
        bound, sign = microseconds(compared[2]), compared[1]
        if sign.startswith("<"):
            return Interval(high=bound, high_open=sign == "<")
        return Interval(low=bound, low_open=sign == ">")
    bracketed = _BRACKETED.match(text)
    if not bracketed:
        return None
    low = microseconds(bracketed[2]) if bracketed[2].strip() else 0.0
    high = microseconds(bracketed[3]) if bracketed[3] else float("inf")
    return Interval(low, high, bracketed[1] == "(", bracketed[4] == ")")
