"""What stands at the left of a curve: the numbers of its top and of its bottom row."""

from __future__ import annotations

_DIGITS = range(4, 18)  # as everywhere, and as many as tell any two numbers apart


def scale_labels(low: float, high: float, rows: int) -> list[str]:
    """A label for each of `rows` rows from the top: `high` at the first, `low` at the last, none between.

    Both have as many digits as it takes to tell them apart. One number alone stands where its line is drawn, in the
    middle.
    """
    labels = [""] * rows
    if low == high:
        labels[rows // 2] = f"{low:.{_DIGITS[0]}g}"
        return labels
    texts = ((f"{low:.{digits}g}", f"{high:.{digits}g}") for digits in _DIGITS)
    labels[-1], labels[0] = next(pair for pair in texts if pair[0] != pair[1])
    return labels
