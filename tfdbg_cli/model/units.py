"""Sizes and times for people, and intervals of them."""

from __future__ import annotations

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


def ms_text(time_us: float | None) -> str:
    """Microseconds as milliseconds with three places; `?` for None."""
    return "?" if time_us is None else f"{time_us / 1000:.3f}"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """`[4,2]`, `[]` for a scalar, `?` when it is not known."""
    return "?" if shape is None else f"[{','.join(map(str, shape))}]"
