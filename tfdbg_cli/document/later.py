"""Cells of a row that are computed after the row is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Later(Protocol):
    """Computes slow cells of rows that are on show already."""

    def missing(self, row: int) -> bool:
        """Whether cells of the row are still to be computed; they then show a placeholder."""
        ...

    def count(self, row: int) -> Iterator[None]:
        """Compute the missing cells of the row, in steps."""
        ...
