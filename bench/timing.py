"""Timing of several ways to do one thing, interleaved so that a busy machine slows all of them alike."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Took:
    """What a call took, in seconds; a call gives it of itself when its own clock is the better one.

    `processor` is the time that all threads of the process had a processor for; None where that is not told.
    """

    seconds: float
    processor: float | None = None


@dataclass(frozen=True)
class Timing:
    """Seconds a call took, over the usual rounds, and seconds of the processor; `aside` are its unusual calls."""

    seconds: tuple[float, ...]
    processor: tuple[float, ...] = ()
    aside: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def ratio(self, base: Timing) -> float:
        """How many times as long as `base` this took: the median over the rounds of what each of them says.

        A round's calls are neighbours. What else the machine does changes more over all rounds than what is measured.
        """
        return _ratio(self.seconds, base.seconds)

    def processor_ratio(self, base: Timing) -> float:
        """The same of processor time."""
        return _ratio(self.processor, base.processor)


def _ratio(took: Sequence[float], base: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(took, base, strict=True))


def interleave(
    ways: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 2, unusual: Callable[[], int] = lambda: 0
) -> dict[str, Timing]:
    """Call each of `ways`, `rounds` times, in an order that changes; the first `warm_up` rounds are not counted.

    What a way leaves behind (memory to be freed, cold caches) falls on the one that comes next: on each as often. A
    call during which the number that `unusual` gives changes is put aside, and its round is not counted.
    """
    usual: dict[str, list[Took]] = {name: [] for name in ways}
    aside: dict[str, list[Took]] = {name: [] for name in ways}
    order, chance = list(ways.items()), random.Random(0)
    for i in range(warm_up + rounds):
        chance.shuffle(order)
        taken, odd = {}, []
        for name, way in order:
            before = unusual()
            taken[name] = _took(way)
            if unusual() != before:
                odd.append(name)
        if i >= warm_up:
            for name in odd or taken:
                (aside if odd else usual)[name].append(taken[name])
    return {name: _timing(taken, aside[name]) for name, taken in usual.items()}


def _took(way: Callable[[], object]) -> Took:
    """What a call of `way` took, by itself or by our clocks."""
    processor, began = time.process_time(), time.perf_counter()
    found = way()
    took = Took(time.perf_counter() - began, time.process_time() - processor)
    return found if isinstance(found, Took) else took


def _timing(usual: Sequence[Took], aside: Sequence[Took]) -> Timing:
    processor = tuple(took.processor for took in usual if took.processor is not None)
    return Timing(tuple(took.seconds for took in usual), processor, tuple(took.seconds for took in aside))


def print_ratios(title: str, timings: Mapping[str, Timing], base: str, goals: Mapping[str, float]) -> None:
    """A table of medians and the ratios to `base`, with the goal where there is one."""
    print(f"\n{title}")
    print_ratio_titles()
    for name, timing in timings.items():
        print_ratio(name, timing, timings[base], goals.get(name))


def print_ratio_titles() -> None:
    """The titles of the columns of `print_ratio`."""
    print(f"  {'way':<44} {'median ms':>10} {'ratio':>8} {'goal':>8} {'of CPU':>8}   rounds with trials")


def print_ratio(name: str, timing: Timing, base: Timing, goal: float | None) -> None:
    """A row: the median of the usual rounds and the ratio to `base`, by the clock and by processor time.

    The ratio of processor time tells more where other programs run beside. Calls with trials are not among these: how
    many there were, and how much of the base's time such a call took, stands behind.
    """
    ratio = timing.ratio(base)
    told = timing.processor and base.processor
    of_processor = f"{timing.processor_ratio(base):.3f}" if told else ""
    aim = "" if goal is None else f"≤ {goal:.2f}"
    tried = ""
    if timing.aside:
        rounds = len(timing.seconds) + len(timing.aside)
        tried = f"{len(timing.aside)} of {rounds}, {statistics.median(timing.aside) / base.median:.2f}"
    row = f"  {name:<44} {timing.median * 1e3:>10.2f} {ratio:>8.3f} {aim:>8} {of_processor:>8}   {tried}"
    print(row.rstrip(), flush=True)


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
