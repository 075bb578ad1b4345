"""Sizes, times, counts and lists of names for people."""

from __future__ import annotations

from collections.abc import Iterable

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def bytes_text(nbytes: int | None) -> str:
    """`nbytes` such as 96 B, 1.5 kB, 3.2 GB (a kB is 1024 B, as in TensorFlow's tfdbg); `?` for None."""
    if nbytes is None:
        return "?"
    number = float(nbytes)
    for unit in _BYTE_UNITS[:-1]:
        if number < 1024:
            return (
                f"{nbytes} B" if unit == "B" else f"{number:.3g} {unit}" if number < 999.5 else f"{number:.0f} {unit}"
            )
        number /= 1024
    return f"{number:.1f} {_BYTE_UNITS[-1]}"


def count_text(count: int, noun: str, plural: str = "") -> str:
    """`1 tensor`, `2 tensors`, with commas in large numbers."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def names_text(names: Iterable[object], most: int = 3) -> str:
    """`a, b, c and 2 more`: the first `most` of `names`, and how many more there are."""
    shown = [str(name) for name in names]
    more = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {more:,} more" if more > 0 else "")


def ms_text(time_us: float | None) -> str:
    """Microseconds as milliseconds with three places; `?` for None."""
    return "?" if time_us is None else f"{time_us / 1000:.3f}"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """`[4,2]`, `[]` for a scalar, `?` when it is not known."""
    return "?" if shape is None else f"[{','.join(map(str, shape))}]"
