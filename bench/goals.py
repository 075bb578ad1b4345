"""Waits of a person beside what they may be: one table, with whether each goal is met."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_NAME = 66  # columns of the first column


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a person waited: seconds of the clock, and how many of them the program had a processor for.

    On a machine with other work the clock tells of that, too; the processor's time is the program's own.
    """

    seconds: float
    processor: float


class Goals:
    """A table of what was waited for, printed row by row. A goal is met when 95 of 100 waits do not exceed it."""

    def __init__(self, title: str) -> None:
        print(f"\n{title} (ms)")
        print(f"  {'':<{_NAME}} {'median':>8} {'95 %':>8} {'most':>8} {'95 % of processor':>19}   goal of 95 %")
        self._missed: list[str] = []
        self._rows = 0

    def add(self, name: str, waits: Sequence[Wait], goal: float) -> None:
        """A row: `waits` for the same, of which nearly all are to be within `goal` seconds."""
        seconds = [wait.seconds for wait in waits]
        nearly_all, processor = _nearly_all(seconds), _nearly_all(wait.processor for wait in waits)
        met = nearly_all <= goal
        self._rows += 1
        if not met:
            self._missed.append(name)
        times = "".join(f" {time * 1e3:>8.1f}" for time in (statistics.median(seconds), nearly_all, max(seconds)))
        verdict = "met" if met else "MISSED, but not by the processor" if processor <= goal else "MISSED"
        print(f"  {name:<{_NAME}}{times} {processor * 1e3:>19.1f}   ≤ {goal * 1e3:<5.0f} {verdict}", flush=True)

    def close(self) -> None:
        """Say how many of the goals were met, and which were not."""
        met = self._rows - len(self._missed)
        print(f"  {met} of {self._rows} goals met{'; missed: ' if self._missed else ''}{'; '.join(self._missed)}")


def measured(clock: Callable[[], tuple[float, float]], work: Callable[[], object]) -> Wait:
    """What `work` took on both hands of `clock`."""
    seconds, processor = clock()
    work()
    after, used = clock()
    return Wait(after - seconds, used - processor)


def _nearly_all(times: Iterable[float]) -> float:
    """What 95 of 100 do not exceed."""
    ordered = sorted(times)
    return ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]
