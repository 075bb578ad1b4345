"""What was not finite when it came in: how it came, what part of a batch it is, whether it is all in some columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

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
    it among several of this role, as in a dict of inputs; empty for no name. `run` is the number of the earlier run
    that computed it, as the state of a loop's last turn; None where that is not known, or none did.
    """

    bad: Array
    role: BatchRole | None = None
    came: Came = Came.FED
    arrays: str = ""
    class_weight: bool = False
    key: str = ""
    run: int | None = None

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The last-axis indices of all bad elements, if few (at most half) and bad in many rows; else empty."""
        few = self._few_along(self.bad.ndim - 1) if self.bad.ndim in _AXES else ()
        return few if len(few) < self._rows else ()

    @property
    def where(self) -> str:
        """`, all in column 2 of 4 (116 of 128 rows)`; empty where no column or axis holds all of it."""
        rows = f"({self._rows} of {len(self.bad)} rows)" if self.bad.ndim else ""
        if self.columns:
            return f", all in {self._named} of {self.bad.shape[-1]} {rows}"
        return f", all at {self._named} {rows}" if self._confined else ""

    @property
    def helps(self) -> str:
        """What to do about columns, or where nothing is a number; empty for single rows."""
        if self.bad.ndim and len(self.bad) >= _FEWEST_ROWS and self.bad.all():
            return (
                "No row of it is finite, so no row is to blame: mend what computes it, such as a division by a"
                " deviation or a count that is 0. What NumPy and Python compute is not seen here."
            )
        if self._confined is None:
            return ""
        axis, places = self._confined
        them = "it" if len(places) == 1 else "them"
        if bool(np.take(self.bad, places, axis).all()):
            return (
                f"Mend what computes {self._named}, or leave {them} out of the data: no row has a number there, as"
                " after a division by the deviation of a column that never changes, which is 0."
            )
        return (
            f"Fill {self._named} (np.nan_to_num, or the mean of what is known) or leave {them} out of the data;"
            f" to leave out the rows that miss {them} would take {self._rows} of {len(self.bad)}."
        )

    @cached_property
    def _confined(self) -> tuple[int, tuple[int, ...]] | None:
        """The axis, of several columns the last one, and the few indices along it that hold all that is bad.

        None where there is none. Of another axis than that of columns far more rows have to be bad there.
        """
        if self.columns:
            return self.bad.ndim - 1, self.columns
        along = ((axis, self._few_along(axis)) for axis in range(1, self.bad.ndim) if self.bad.ndim > 2)
        clear = [(axis, few) for axis, few in along if few and _FEWEST_ROWS * len(few) <= self._rows]
        return min(clear, key=lambda one: len(one[1]) / self.bad.shape[one[0]], default=None)

    def _few_along(self, axis: int) -> tuple[int, ...]:
        """The indices along `axis` of all bad elements, if these are at most half of all, and rows enough are bad."""
        if not self.bad.any() or self._rows < _FEWEST_ROWS:
            return ()
        along = np.asarray(self.bad.any(axis=tuple(other for other in range(self.bad.ndim) if other != axis)))
        few = np.flatnonzero(along)
        return tuple(map(int, few)) if 2 * len(few) <= len(along) else ()

    @property
    def _named(self) -> str:
        axis, places = self._confined or (0, ())
        named = names_text(places, _MOST_NAMED)
        if self.columns:
            return f"{_AXES[self.bad.ndim]}{'s' * (len(places) > 1)} {named}"
        return f"{'index' if len(places) == 1 else 'indices'} {named} of axis {axis}"

    @cached_property
    def _rows(self) -> int:
        return int(np.count_nonzero(self.bad.any(axis=tuple(range(1, self.bad.ndim)))))
