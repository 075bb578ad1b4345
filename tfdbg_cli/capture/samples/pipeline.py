"""The data set of an iterator, and rows of batches looked for in what it was made of."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.model.records import FoundRecords, SoughtRow

_GONE = "The program does not hold the data set any more, from which the batch came."
_NOT_LOOKED_AT = "The batch came from a data set: what lies behind that is not looked at."


class Pipeline:
    """A data set, held weakly."""

    quick = False

    def __init__(self, dataset: weakref.ref[Any]) -> None:
        self._dataset = dataset

    def find(self, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
        """See `DataBehind`."""
        if self._dataset() is None:
            return FoundRecords(notes=(_GONE,))
        return FoundRecords(notes=(_NOT_LOOKED_AT,))
