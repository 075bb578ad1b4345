"""Places in code that runs eagerly, from words and told from ops: `log when min < 0`, `train.py:12`, `dense_1`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tfdbg_cli.analysis.choosing.conditions import Condition, condition_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.pausing import Place
from tfdbg_cli.model.values import Array

_WHEN = re.compile(r"(?:^|\s+)(?:when|if)(?:\s+|$)")
_NO_LINE = re.compile(r"\.py(?::|$)")
_LINE = re.compile(r"(?:(?P<file>.*\S)\s*:\s*|line\s+|(?P<before>.+?),?\s+(?:line\s+)?)?(?P<line>\d+)$")


def place_of(text: str, file: str = "") -> Place:
    """The place that `text` means: OP, LINE or FILE:LINE, and `when CONDITION` behind it. A line alone is of `file`.

    `line 12`, `train.py 12` and `train.py, line 12` are such lines, too.

    Raises:
        TfdbgError: it means none.

    """
    where, *conditions = _WHEN.split(text.strip(), maxsplit=1)
    where = where.strip()
    condition = conditions[0].strip() if conditions else ""
    if conditions:
        if not condition:
            raise TfdbgError("`when` is followed by a condition.", hint="Such as: Log when min < 0")
        condition_of(condition)
    if not where and not condition:
        raise TfdbgError("There is no place.", hint="Such as: Log when min < 0, train.py:12, dense_1")
    match = _LINE.match(where)
    if match is None:
        if _NO_LINE.search(where):
            raise TfdbgError(f"{where!r} names no line.", hint="Write the number of one behind the file: train.py:12")
        if len(where.split()) > 1:
            raise TfdbgError(f"{where!r} is no place.", hint="Such as: Log when min < 0, train.py:12, dense_1")
        return Place(op=where or "*", condition=condition)
    source = match["file"] or match["before"] or file
    if not source:
        raise TfdbgError(f"Line {match['line']} of which file?", hint=f"Write: train.py:{match['line']}")
    if int(match["line"]) < 1:
        raise TfdbgError("Lines are numbered from 1.")
    return Place(file=source, line=int(match["line"]), condition=condition)


class PlaceTest:
    """Whether ops are at a place."""

    def __init__(self, place: Place) -> None:
        """Raises: TfdbgError: its condition is none."""
        self._op = place.op.lower()
        self._place = place
        self._condition: Condition | None = condition_of(place.condition) if place.condition else None

    @property
    def asks_lines(self) -> bool:
        """Whether it is about a line."""
        return bool(self._place.line)

    def fits_op(self, op_type: str, name: str) -> bool:
        """Whether it is about an op of that type and name."""
        if self.asks_lines:
            return True
        op, name = self._op, name.lower()
        if op == op_type.lower() or fnmatchcase(op_type.lower(), op) or fnmatchcase(name, op):
            return True
        return f"/{op.rstrip('/')}/" in f"/{name}"

    def fits_line(self, file: str, line: int) -> bool:
        """Whether it is about that line of source."""
        if line != self._place.line:
            return False
        wanted = Path(self._place.file).parts
        found = Path(file).parts[-len(wanted) :]
        return found == wanted or (len(found) == len(wanted) and all(map(fnmatchcase, found, wanted)))

    def holds(self, outputs: Sequence[Array], inputs: Callable[[], Sequence[Array]]) -> bool:
        """Whether its condition holds of what an op gave and was given; without one it does."""
        return self._condition is None or self._condition.holds(outputs, inputs)
