"""The memory that each way of debugging adds to a training step, keep and replay among them.

Every way has a process of its own, since what is measured is the most that a process ever had resident.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from bench.ways import ALL_VALUES, DECISIONS, KEEP, REPLAY, WATCH, WAYS

WORKLOADS = ("function", "fit", "session")
_STEPS = 5


def measure() -> None:
    """Measure and print."""
    print("\nPeak memory of the process: undebugged, and what debugging adds, in MiB")
    print(f"  {'way':<44} " + " ".join(f"{workload:>10}" for workload in WORKLOADS))
    for name in ("", WATCH, REPLAY, KEEP, ALL_VALUES):
        found = [_in_own_process(workload, name) for workload in WORKLOADS]
        print(f"  {name or 'undebugged':<44} " + " ".join(f"{mebibytes:>10.0f}" for mebibytes in found), flush=True)


def _in_own_process(workload: str, name: str) -> float:
    command = [sys.executable, "-m", "bench.memory", workload, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    return float(json.loads(done.stdout.splitlines()[-1]))


def _peak() -> float:
    """The most memory that this process had resident so far, in MiB.

    Linux tells of this very program in VmHWM (proc(5)). ru_maxrss begins with that of the process which started it,
    and that one may have measured other things before.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / (1 << 10)
    units = 1 << 20 if sys.platform == "darwin" else 1 << 10  # getrusage(2): bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units


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


def main() -> None:
    """`python -m bench.memory WORKLOAD WAY`: one way, its number as JSON on the last line."""
    step, debugged, on = _prepared(*sys.argv[1:3])
    for _ in range(_STEPS):
        step()
    before = _peak()
    with on:
        for _ in range(_STEPS):
            debugged()
    print(json.dumps(_peak() - before if sys.argv[2] else before))


if __name__ == "__main__":
    main()
