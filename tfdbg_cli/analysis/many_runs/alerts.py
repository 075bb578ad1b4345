"""Every tensor of a recording that is not finite, over all of its runs: by recorded counts, else by its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, any_nonfinite, summarize
from tfdbg_cli.model.tensors import TensorStore, finite_in_steps, recorded_summary
from tfdbg_cli.model.values import Lack, NoValue
from tfdbg_cli.ops.kinds import NEVER_FLOATS

RULE = "has_inf_or_nan"


@dataclass(frozen=True, slots=True)
class Alert:
    """A tensor that is not finite: the indices of its run and of itself in the run, and its counts."""

    run: int
    index: int
    summary: Summary


@dataclass
class AlertSearch:
    """A search for alerts through `runs`, the oldest first; counts the tensors it has looked at.

    Args:
        runs: the runs.
        nan_only: ignore tensors that hold infinities only.
        exclude: ignore tensors of nodes whose name matches.
        left_out: tells which tensors of the run at a place are left out, such as a mask; `meant` counts them.

    """

    runs: Sequence[Run]
    nan_only: bool = False
    exclude: re.Pattern[str] | None = None
    left_out: Callable[[int], Set[int]] | None = None
    tensors: int = 0
    unknown: int = 0  # tensors of which it is not known whether they are finite
    damaged: int = 0  # of these, how many since what is kept of them is damaged
    untold: set[int] = field(
        default_factory=set
    )  # the places of the runs in which there are such, or that are unreadable
    unreadable: int = 0  # runs
    meant: int = 0

    def alerts(self) -> Iterator[Alert]:
        """The alerts, as they are come to."""
        for place in range(len(self.runs)):
            try:
                store = self.runs[place].tensors
            except TfdbgError:
                self.unreadable += 1
                self.untold.add(place)
                continue
            yield from self._in(place, store)

    def _in(self, place: int, store: TensorStore) -> Iterator[Alert]:
        fine = bytearray(len(store))
        for finite, _ in finite_in_steps(store, range(len(store))):
            for index in finite:
                fine[index] = 1
        before = self.tensors
        left_out: Set[int] = frozenset()
        if self.left_out is not None and not all(fine):
            left_out = self.left_out(place)
        for index in (index for index, is_fine in enumerate(fine) if not is_fine):
            self.tensors = before + index + 1
            if self._excluded(store, index):
                continue
            summary = known_of(store, index)
            if summary is None or summary.any_nonfinite is None:
                self.unknown += 1
                self.damaged += summary is None and is_damaged(store, index)
                self.untold.add(place)
            elif summary.any_nonfinite and self._counts(summary) and index in left_out:
                self.meant += 1
            elif summary.any_nonfinite and self._counts(summary):
                yield Alert(place, index, summary)
        self.tensors = before + len(store)

    def _counts(self, summary: Summary) -> bool:
        return not self.nan_only or summary.spoiled or summary.nan > 0

    def _excluded(self, store: TensorStore, index: int) -> bool:
        return self.exclude is not None and self.exclude.search(store[index].node) is not None


def is_damaged(store: TensorStore, index: int) -> bool:
    """Whether there is no value since what is kept of it is damaged."""
    value = store.value(index)
    return isinstance(value, NoValue) and value.lack is Lack.DAMAGED


def known_of(store: TensorStore, index: int) -> Summary | None:
    """A Summary that tells whether the tensor is finite (of a finite value, no more); None if nothing tells."""
    recorded = recorded_summary(store, index)
    if recorded is not None:
        return recorded
    value = store.value(index)
    if isinstance(value, NoValue):
        # Numbers are recorded of floating point tensors alone, and of others not even what they are.
        never = value.lack is Lack.GONE and store[index].op_type in NEVER_FLOATS
        return Summary.finite() if never else None
    return summarize(value) if any_nonfinite(value) else Summary.finite()
