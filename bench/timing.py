"""Timing of several ways to do one thing, interleaved so that a busy machine slows all of them alike."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Took:
    """What a call says of itself that it took, in seconds, when its own clock is the better one."""

    seconds: float


@dataclass(frozen=True)
class Timing:
    """Seconds a call took, over the rounds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def interleave(ways: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 2) -> dict[str, Timing]:
    """Call each of `ways`, `rounds` times, in an order that changes; the first `warm_up` rounds are not counted.

    What a way leaves behind (memory to be freed, cold caches) falls on the one that comes next: on each as often.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    order, chance = list(ways.items()), random.Random(0)
    for i in range(warm_up + rounds):
        chance.shuffle(order)
        for name, way in order:
            began = time.perf_counter()
            found = way()
            took = found.seconds if isinstance(found, Took) else time.perf_counter() - began
            if i >= warm_up:
                seconds[name].append(took)
    return {name: Timing(tuple(taken)) for name, taken in seconds.items()}


def print_ratios(title: str, timings: Mapping[str, Timing], base: str, goals: Mapping[str, float]) -> None:
    """A table of medians and their ratio to the median of `base`, with the goal where there is one."""
    print(f"\n{title}")
    print(f"  {'way':<44} {'median ms':>10} {'ratio':>8} {'goal':>8}")
    for name, timing in timings.items():
        ratio = timing.median / timings[base].median
        goal = f"≤ {goals[name]:.2f}" if name in goals else ""
        print(f"  {name:<44} {timing.median * 1e3:>10.2f} {ratio:>8.3f} {goal:>8}")


def print_added(title: str, timings: Mapping[str, Timing], calls: int, goal: float = 20) -> None:
    """What each way adds to one of its `calls`, against the first, in microseconds.

    Compared are neighbours: the median of the differences within each round, with half of them between the numbers
    in brackets. What else the machine does changes more over the rounds than what is measured.
    """
    base, *others = timings
    print(f"\n{title} (goal: ≤ {goal:g} µs)")
    for name in others:
        pairs = zip(timings[name].seconds, timings[base].seconds, strict=True)
        low, middle, high = statistics.quantiles([(way - plain) / calls * 1e6 for way, plain in pairs])
        print(f"  {name:<44} {middle:>10.1f} µs  [{low:.1f}, {high:.1f}]")
