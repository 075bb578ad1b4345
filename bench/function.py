"""What debugging costs functions: a GPT step and a Keras fit undebugged, in every mode, and under TensorFlow's tools.

Every way has a process of its own, in which its step and an undebugged one take turns, since TensorFlow's tools
change things for the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from bench import fit, gpt
from bench.timing import Took, interleave, print_added
from bench.ways import ALL_VALUES, TOOLS, WATCH, WATCH_RESULTS, WAYS, Way, enabled
from tfdbg_cli.model.decision import Continue, Detach

_CALLS = 100

WORKLOADS: Mapping[str, Callable[[], Callable[[], Any]]] = {"function": gpt.build_step, "fit": fit.build_step}
TITLES = {
    "function": "GPT training step as a tf.function (d=256, 4 layers, batch 8x64)",
    "fit": f"Keras fit of a convolutional network, {fit.STEPS} steps of {fit.BATCH} images of 32x32",
}
GOALS = {
    ("function", "enabled, continue"): 1.01,
    ("function", "enabled, detached"): 1.01,
    ("function", ALL_VALUES): 1.25,
    ("function", WATCH): 1.05,
    ("function", WATCH_RESULTS): 1.01,
    ("fit", WATCH): 1.10,
}


def measure(workload: str, rounds: int) -> None:
    """Measure each way in a process of its own, and print."""
    print(f"\n{TITLES[workload]}")
    print(f"  {'way':<44} {'median ms':>10} {'ratio':>8} {'goal':>8}")
    for name in WAYS:
        found = _in_own_process(workload, name, rounds)
        goal = GOALS.get((workload, name))
        aim = "" if goal is None else f"≤ {goal:.2f}"
        ratio = found["debugged"] / found["undebugged"]
        print(f"  {name:<44} {found['debugged'] * 1e3:>10.2f} {ratio:>8.3f} {aim:>8}", flush=True)


def measure_calls(rounds: int) -> None:
    """What being enabled adds to the smallest possible call that is not stopped at, in microseconds."""
    import tensorflow as tf

    one = tf.constant(1.0)
    function = tf.function(lambda x: x + 1.0)
    function(one)
    ways = {"undebugged": _calls(function, one, nullcontext)}
    ways["continue"] = _calls(function, one, enabled(Continue()))
    ways["detached"] = _calls(function, one, enabled(Detach()))
    print_added("A call of a tf.function that is not stopped at", interleave(ways, rounds * 10), _CALLS)


def _calls(function: Any, argument: Any, way: Way) -> Callable[[], Took]:
    def calls() -> Took:
        with way():
            began = time.perf_counter()
            for _ in range(_CALLS):
                function(argument)
            return Took(time.perf_counter() - began)

    return calls


def _in_own_process(workload: str, name: str, rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.function", workload, name, str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _against_undebugged(build: Callable[[], Callable[[], Any]], name: str, rounds: int) -> dict[str, float]:
    """Seconds of an undebugged and a debugged step, in turn.

    TensorFlow's tools act when a function is traced: they stay on, and the undebugged step was traced before. Ours
    acts on calls: it is on for the debugged ones.
    """
    plain, debugged = build(), build()
    plain()
    way = WAYS[name]
    theirs = name in TOOLS
    every_call = nullcontext if theirs else way

    def debugged_step() -> Any:
        with every_call():
            return debugged()

    with way() if theirs else nullcontext():
        timings = interleave({"undebugged": plain, "debugged": debugged_step}, rounds)
    return {name: timing.median for name, timing in timings.items()}


def main() -> None:
    """`python -m bench.function WORKLOAD WAY ROUNDS`: one way, its numbers as JSON on the last line."""
    workload, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print(json.dumps(_against_undebugged(WORKLOADS[workload], name, rounds)))


if __name__ == "__main__":
    main()
