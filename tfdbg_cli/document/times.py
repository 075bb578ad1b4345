"""Durations for people."""

from __future__ import annotations

TIME_UNITS = ("us", "ms", "s")
_MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def time_text(us: float, unit: str = "") -> str:
    """`us` microseconds in `unit`, by default in the one that suits: 12us, 3.46ms, 1.2s."""
    if not unit:
        unit = "us" if us < 1e3 else "ms" if us < 1e6 else "s"
    number = us / _MICROSECONDS[unit]
    digits = f"{number:.3g}" if number < 999.5 else f"{number:.0f}"
    return f"{digits}{unit}"


def microseconds(text: str) -> float:
    """Read `100us`, `2.5ms`, `1s`; a number without a unit counts microseconds.

    Raises:
        ValueError: not such a text, or negative.

    """
    stripped = text.strip()
    for unit in ("us", "ms", "s"):
        if stripped.endswith(unit):
            number = float(stripped.removesuffix(unit)) * _MICROSECONDS[unit]
            break
    else:
        number = float(stripped)
    if not number >= 0:
        raise ValueError(text)
    return number
