"""What the program calls the parts of a batch, and rows in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_FEW = 4  # rows that are all named
_SHOWN = 3  # of more


def keys_of(part: Any, key: str = "") -> Iterator[str]:
    """What each tensor of a part is called by the dicts that it is in, in the order of `tf.nest.flatten`."""
    if isinstance(part, Mapping):
        for name in sorted(part):
            yield from keys_of(part[name], f"{key}/{name}" if key else str(name))
    elif isinstance(part, (tuple, list)):
        for one in part:
            yield from keys_of(one, key)
    elif part is not None:
        yield key


def words_of_rows(rows: Sequence[int]) -> str:
    """`row 3`, `rows 3 and 7`, `rows 3, 4, 5 and 9 more`."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = rows[:-1] if len(rows) <= _FEW else rows[:_SHOWN]
    last = str(rows[-1]) if len(rows) <= _FEW else f"{len(rows) - len(shown)} more"
    return f"rows {', '.join(map(str, shown))} and {last}"
