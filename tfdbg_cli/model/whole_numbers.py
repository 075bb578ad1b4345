"""Whole numbers in what a user types and in names from files."""

from __future__ import annotations

_LONGEST = 18  # digits; Python refuses to read thousands


def whole_number(text: str) -> int | None:
    """The number that `text` is; None where it is anything but ASCII digits, or too long for a number that counts.

    `str.isdigit` also holds for digits such as `²`, which `int` refuses.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else None
