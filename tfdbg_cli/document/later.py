"""What of a row is counted after the row was shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Later(Protocol):
    """What is counted of a row only after it was shown, since that takes its time."""

    def missing(self, row: int) -> bool:
        """Whether something of the row is still to be counted; it says so meanwhile."""
        ...

    def count(self, row: int) -> Iterator[None]:
        """Count what the row lacks, a little at a time."""
        ...
