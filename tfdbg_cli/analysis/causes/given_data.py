"""What was not finite when it came in: how it came, what part of a batch it is, whether it is all in some columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.values import Array

_FEWEST_ROWS = 3  # with fewer bad rows it cannot be told whether a column is to blame
_MOST_NAMED = 8
_AXES = {2: "column", 3: "feature"}  # what the last axis is, by the number of axes


class Came(Enum):
    """How something comes into a run that no op of it made."""

    FED = auto()  # as a feed or an argument, or as an array that eager code hands to an op
    ALONG = auto()  # with a function, as a tensor from outside that it was traced with
    QUEUED = auto()  # out of a queue
    AS_NUMBER = auto()  # as a single number that eager code hands to an op
    OF_LOOP = auto()  # as a batch that a loop of Keras took out of its data and hands to each step


@dataclass(frozen=True)
class GivenData:
    """Where the data is not finite (`bad`), which part of the batch it is, if that is known, and how it came.

    `arrays` says which arrays a method of Keras took it from: "the arrays that fit was given", or that it took them
    batch by batch from Python; empty if none.
    `class_weight` says that `fit` made the sample weights of those of the classes. `key` is what the program calls
    it among several of this role, as in a dict of inputs; empty for no name.
    """

    bad: Array
    role: BatchRole | None = None
    came: Came = Came.FED
    arrays: str = ""
    class_weight: bool = False
    key: str = ""

    @property
    def columns(self) -> tuple[int, ...]:
        """The last-axis indices of all bad elements, if few (at most half) and bad in many rows; else empty."""
        what = _AXES.get(self.bad.ndim)
        if what is None or not self.bad.any():
            return ()
        along = np.asarray(self.bad.any(axis=tuple(range(self.bad.ndim - 1))))
        bad = np.flatnonzero(along)
        few = 2 * len(bad) <= len(along) and len(bad) < self._rows
        return tuple(map(int, bad)) if few and self._rows >= _FEWEST_ROWS else ()

    @property
    def where(self) -> str:
        """`, all in column 2 of 4 (116 of 128 rows)`; empty where it is not confined to columns."""
        if not self.columns:
            return ""
        return f", all in {self._named} of {self.bad.shape[-1]} ({self._rows} of {len(self.bad)} rows)"

    @property
    def helps(self) -> str:
        """What to do about columns, or where nothing is a number; empty for single rows."""
        if self.bad.ndim and len(self.bad) >= _FEWEST_ROWS and self.bad.all():
            return (
                "No row of it is finite, so no row is to blame: mend what computes it, such as a division by a"
                " deviation or a count that is 0. What NumPy and Python compute is not seen here."
            )
        if not self.columns:
            return ""
        them = "it" if len(self.columns) == 1 else "them"
        if self._everywhere:
            return (
                f"Mend what computes {self._named}, or leave {them} out of the data: no row has a number there, as"
                " after a division by the deviation of a column that never changes, which is 0."
            )
        return (
            f"Fill {self._named} (np.nan_to_num, or the mean of what is known) or leave {them} out of the data;"
            f" to leave out the rows that miss {them} would take {self._rows} of {len(self.bad)}."
        )

    @property
    def _named(self) -> str:
        what = _AXES[self.bad.ndim]
        return f"{what}{'s' * (len(self.columns) > 1)} {names_text(self.columns, _MOST_NAMED)}"

    @property
    def _everywhere(self) -> bool:
        """Whether the columns hold nothing but what is not finite."""
        return bool(self.bad[..., list(self.columns)].all())

    @property
    def _rows(self) -> int:
        return int(np.count_nonzero(self.bad.any(axis=tuple(range(1, self.bad.ndim)))))
