"""What a filter is, a yes or no question about a tensor, and what tfdbg knows of its own filters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Any, TypeAlias

from tfdbg_cli.model.values import Value

# (datum, value) -> bool, as in TensorFlow's tfdbg: `datum` has node_name, output_slot, … (analysis/watch/datum.py);
# the value is an array, or a NoValue where there is none.
TensorFilter: TypeAlias = Callable[[Any, Any], bool]


class Among(Enum):
    """To which tensors of a run a filter applies."""

    ALL = auto()
    GRADIENTS = auto()  # final gradients, from which no further gradients are computed
    OUTCOME = auto()  # what comes out of the run (analysis/watch/outcome.py)


class Bad(Flag):
    """Which non-finite numbers a filter looks for; NONE for one about something else."""

    NONE = 0
    NAN = auto()
    INFINITE = auto()
    EITHER = NAN | INFINITE


@dataclass(frozen=True)
class Filter:
    """A built-in filter; the ops that answer it inside TensorFlow, its question, are in `capture/questions/`.

    `test` is called with a datum, a value and, if it has one, the `parameter`: the number that the user writes after
    the name (`magnitude_above:1e4`), called N in `meaning`. If `inside`, and if the parameter is below infinity and
    at least `least`, the filter can be checked by ops in the graph; otherwise it is applied to captured values.
    `among` says to which tensors it applies, `finds` whether it looks for NaN, infinities or both, and `compares`
    that it is about a change, and so needs values from before the run.
    """

    name: str
    meaning: str
    test: Callable[..., bool]
    parameter: float | None = None
    least: float = -math.inf
    among: Among = Among.ALL
    finds: Bad = Bad.NONE
    compares: bool = False
    inside: bool = True

    def __call__(self, datum: Any, tensor: Value) -> bool:
        return self.test(datum, tensor) if self.parameter is None else self.test(datum, tensor, self.parameter)

    @property
    def number(self) -> float:
        """The parameter, as a float; only for a filter that has one."""
        assert self.parameter is not None, self.name
        return self.parameter

    @property
    def checked_inside(self) -> bool:
        """Whether ops in the graph can check the filter, with this parameter."""
        return self.inside and (self.parameter is None or self.least <= self.parameter < math.inf)
