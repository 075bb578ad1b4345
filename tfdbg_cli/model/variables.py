"""What is known of the variables of a run beside their values: which are trained, which are initialized."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Lack, NoValue, Value

SAVED_VARIABLE = "Variable"
"""The op type of nodes that show nothing but the value of a variable: those of a checkpoint, and what is like one."""
_SEVERAL = NoValue(Lack.GONE, "Several variables of that name lie in the checkpoint, with different values.")


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
class SavedVariable:
    """The value of a variable: the tensor at `index` of `store`. Those at `others` have the same name there."""

    store: TensorStore
    index: int
    others: tuple[int, ...] = ()

    def value(self) -> Value:
        """The value, or why there is none: several of that name that differ tell nothing."""
        value = self.store.value(self.index)
        for other in map(self.store.value, self.others):
            if isinstance(value, NoValue) or isinstance(other, NoValue):
                return _SEVERAL
            if value.shape != other.shape or value.tobytes() != other.tobytes():
                return _SEVERAL
        return value


@dataclass(frozen=True, slots=True)
class ToldVariables:
    """What a file tells of variables."""

    trainable: Mapping[str, bool]
    saved: Callable[[], Mapping[str, SavedVariable]] = dict
    """What gives the values that lie beside the file, by the names of variables."""

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """Nothing: no program is there to be asked."""
        return {}
