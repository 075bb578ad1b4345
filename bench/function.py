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
from bench.timing import Timing, Took, interleave, print_added, print_ratio, print_ratio_titles
from bench.trials import counted_trials
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
    print_ratio_titles()
    for name in WAYS:
        found = _in_own_process(workload, name, rounds)
        print_ratio(name, found["debugged"], found["undebugged"], GOALS.get((workload, name)))


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


def _in_own_process(workload: str, name: str, rounds: int) -> dict[str, Timing]:
    command = [sys.executable, "-m", "bench.function", workload, name, str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    return {way: Timing(*map(tuple, parts)) for way, parts in json.loads(done.stdout.splitlines()[-1]).items()}


def _against_undebugged(build: Callable[[], Callable[[], Any]], name: str, rounds: int) -> dict[str, Timing]:
    """What is taken by an undebugged and a debugged step, in turn.

    TensorFlow's tools act when a function is traced: they stay on, and the undebugged step is another function that
    was traced before. Ours acts on calls: it is on for the debugged ones, of the same function. Two functions that do
    the same differ by up to 3 %, by where their memory lies.
    """
    plain, way = build(), WAYS[name]
    plain()
    if name in TOOLS:
        with way():
            ways = {"undebugged": _second_call(plain, nullcontext), "debugged": _second_call(build(), nullcontext)}
            return interleave(ways, rounds)
    ways = {"undebugged": _second_call(plain, nullcontext), "debugged": _second_call(plain, way)}
    with counted_trials() as trials:
        return interleave(ways, rounds, unusual=trials)


def _second_call(step: Callable[[], Any], way: Way) -> Callable[[], Took]:
    """What the second of two steps takes. A program is enabled once: the first pays for switching here and there."""

    def steps() -> Took:
        with way():
            step()
            processor, began = time.process_time(), time.perf_counter()
            step()
            return Took(time.perf_counter() - began, time.process_time() - processor)

    return steps


def main() -> None:
    """`python -m bench.function WORKLOAD WAY ROUNDS`: one way, its numbers as JSON on the last line."""
    workload, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    found = _against_undebugged(WORKLOADS[workload], name, rounds)
    print(json.dumps({way: (took.seconds, took.processor, took.aside) for way, took in found.items()}))


if __name__ == "__main__":
    main()
