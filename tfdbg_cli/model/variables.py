"""What is known of the variables of a run beside their values: which are trained, which are initialized."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


class TellsVariables(Protocol):
    """Whoever knows the variables of a run, by the names of their nodes."""

    @property
    def trainable(self) -> Mapping[str, bool]:
        """Which of them the program may train; those of which that is not known are missing."""
        ...

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """Which of the variables `names` hold a value now; those of which that cannot be told are missing.

        Nothing in the program changes by it.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToldVariables:
    """What a file tells of variables."""

    trainable: Mapping[str, bool]

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """Nothing: no program is there to be asked."""
        return {}
