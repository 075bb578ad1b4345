"""The memory that each way of debugging adds to a training step, keep and replay among them.

Every way has a process of its own, since what is measured is the most that a process ever had resident.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bench.resident import peak
from bench.ways import ALL_VALUES, DECISIONS, KEEP, REPLAY, WATCH, WAYS

WORKLOADS = ("function", "fit", "session")
_STEPS = 5
_EAGER = "eager"
_EAGER_WIDTH = 768
_EAGER_STEPS = (50, 500)  # after which the peak of an eager loop is asked


def measure() -> None:
    """Measure and print."""
    print("\nPeak memory of the process: undebugged, and what debugging adds, in MiB")
    print(f"  {'way':<44} " + " ".join(f"{workload:>10}" for workload in WORKLOADS))
    for name in ("", WATCH, REPLAY, KEEP, ALL_VALUES):
        found = [_in_own_process(workload, name)[0] for workload in WORKLOADS]
        print(f"  {name or 'undebugged':<44} " + " ".join(f"{mebibytes:>10.0f}" for mebibytes in found), flush=True)
    _measure_eager()


def _measure_eager() -> None:
    """The peak of an eager loop, early and late: it is not to grow with the steps."""
    titles = " ".join(f"{f'{steps} steps':>10}" for steps in _EAGER_STEPS)
    print(f"\nPeak memory of an eager loop in MiB, layers of {_EAGER_WIDTH}; goal <= 1.2 x undebugged + the budget")
    print(f"  {'way':<44} {titles}")
    for name in ("", WATCH):
        found = _in_own_process(_EAGER, name)
        print(f"  {name or 'undebugged':<44} " + " ".join(f"{mebibytes:>10.0f}" for mebibytes in found), flush=True)


def _in_own_process(workload: str, name: str) -> list[float]:
    command = [sys.executable, "-m", "bench.memory", workload, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _prepared(workload: str, name: str) -> tuple[Callable[[], Any], Callable[[], Any], AbstractContextManager[Any]]:
    """A step, the same step debugged, and the context that it takes for that."""
    if workload == "session":
        return _prepared_session(name)
    from bench.function import WORKLOADS as BUILDERS

    step = BUILDERS[workload]()
    return step, step, WAYS[name]() if name else nullcontext()


def _prepared_session(name: str) -> tuple[Callable[[], Any], Callable[[], Any], AbstractContextManager[Any]]:
    from bench.resnet import build_step, session_step
    from bench.session import wrapped

    graph, fetches, feed = build_step()
    made: list[Any] = []

    def seen(session: Any) -> Any:
        made.append(session)
        return session

    step = session_step(graph, fetches, feed, seen)
    if not name:
        return step, step, nullcontext()
    debugged = wrapped(DECISIONS[name])(made[0])
    return step, lambda: debugged.run(fetches[1], feed), nullcontext()


def _eager_peaks(name: str) -> list[float]:
    from bench.eager import EAGER_WAYS, build_step

    step, found = build_step(_EAGER_WIDTH), []
    with EAGER_WAYS[name]() if name else nullcontext():
        for number in range(1, max(_EAGER_STEPS) + 1):
            step()
            if number in _EAGER_STEPS:
                found.append(peak())
    return found


def main() -> None:
    """`python -m bench.memory WORKLOAD WAY`: one way, its numbers as JSON on the last line."""
    workload, name = sys.argv[1:3]
    if workload == _EAGER:
        print(json.dumps(_eager_peaks(name)))
        return
    step, debugged, on = _prepared(workload, name)
    for _ in range(_STEPS):
        step()
    before = peak()
    with on:
        for _ in range(_STEPS):
            debugged()
    print(json.dumps([peak() - before if name else before]))


if __name__ == "__main__":
    main()
