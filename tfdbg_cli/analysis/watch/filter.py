"""What a filter is: a question with yes or no for an answer, asked of every tensor; and what is known of our own."""

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
    """Which tensors of a run are asked."""

    ALL = auto()
    GRADIENTS = auto()  # those of which no further gradients are made
    OUTCOME = auto()  # what comes out of the run (analysis/watch/outcome.py)


class Bad(Flag):
    """Which wrong numbers a filter looks for, wherever they come up."""

    NONE = 0
    NAN = auto()
    INFINITE = auto()
    EITHER = NAN | INFINITE


@dataclass(frozen=True)
class Filter:
    """A filter of ours, with all that is known of it but its question (`capture/questions/`).

    `test` is called with a datum, a value and, where there is one, the `parameter`: a number that a person writes
    behind the name (`magnitude_above:1e4`), and that `meaning` calls N. A filter is checked `inside` a run, by ops in
    the graph, where its parameter is finite and at least `least`; else it is asked of all captured values. `among`
    says which tensors are asked, `finds` whether it looks for NaN, infinities or both, and `compares` that it is
    about a change, so that values from before the run are asked, too.
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
        """The parameter, of a filter that has one."""
        assert self.parameter is not None, self.name
        return self.parameter

    @property
    def checked_inside(self) -> bool:
        """Whether capture can check it inside a run."""
        return self.inside and (self.parameter is None or self.least <= self.parameter < math.inf)
