"""What debugging costs a tf.function: a GPT step undebugged, in every mode, and under TensorFlow's own tools.

Every way has a process of its own, in which its step and an undebugged one take turns, since TensorFlow's tools
change things for the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeAlias

from bench.session import Always
from bench.timing import Timing, interleave
from tfdbg_cli.debugger import Debugger
from tfdbg_cli.model.decision import Continue, DebugRun, Decision, Detach, RunUntil

Way: TypeAlias = Callable[[], AbstractContextManager[Any]]

ALL_VALUES = "all values in memory (run)"
PREPARATION_GOAL = 0.6  # seconds, for 2000 ops
_CALLS = 1000  # so many that switching the debugger on and off counts for nothing


def _enabled(decision: Decision) -> Way:
    """Every function call asks one debugger, which decides so at each stop."""

    @cache
    def debugger() -> Debugger:
        return Debugger(lambda: Always(decision))

    @contextmanager
    def way() -> Iterator[None]:
        from tfdbg_cli.capture.function.interception import intercept_all_functions

        undo = intercept_all_functions(debugger())
        try:
            yield
        finally:
            undo()

    return way


@contextmanager
def _debugger_v2(mode: str) -> Iterator[None]:
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode=mode, circular_buffer_size=100)
        try:
            yield
        finally:
            tf.debugging.experimental.disable_dump_debug_info()


@contextmanager
def _check_numerics() -> Iterator[None]:
    import tensorflow as tf

    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


# Name, how it is switched on, its goal if it is ours.
WAYS: dict[str, tuple[Way, float | None]] = {
    "enabled, continue": (_enabled(Continue()), 1.01),
    "enabled, detached": (_enabled(Detach()), 1.01),
    ALL_VALUES: (_enabled(DebugRun()), 1.25),
    "watch, values kept (run -f has_inf_or_nan)": (_enabled(RunUntil("has_inf_or_nan")), None),
    "TensorFlow's enable_check_numerics": (_check_numerics, None),
    "Debugger V2, CURT_HEALTH": (lambda: _debugger_v2("CURT_HEALTH"), None),
    "Debugger V2, FULL_HEALTH": (lambda: _debugger_v2("FULL_HEALTH"), None),
}

TOOLS = frozenset(name for name in WAYS if "TensorFlow" in name or "V2" in name)


def measure(rounds: int) -> None:
    """Measure each way in a process of its own, and print."""
    print("\nGPT training step as a tf.function (d=256, 4 layers, batch 8x64)")
    print(f"  {'way':<44} {'median ms':>10} {'ratio':>8} {'goal':>8}")
    for name, (_, goal) in WAYS.items():
        found = _in_own_process(name, rounds)
        aim = "" if goal is None else f"≤ {goal:.2f}"
        ratio = found["debugged"] / found["undebugged"]
        print(f"  {name:<44} {found['debugged'] * 1e3:>10.2f} {ratio:>8.3f} {aim:>8}", flush=True)
    measure_preparation(rounds)
    measure_calls(rounds)


def measure_preparation(rounds: int) -> None:
    """How long it takes to make the step's function ready for capture."""
    found = _in_own_process("", rounds)
    print(f"\nPreparing a function of {found['ops']:.0f} ops, once (goal for both: ≤ {PREPARATION_GOAL} s)")
    print(f"  {'instrument()':<44} {found['capture']:>10.3f} s")
    print(f"  {'its graph, for the screen':<44} {found['graph']:>10.3f} s")


def measure_calls(rounds: int) -> None:
    """What being enabled adds to the smallest possible call that is not stopped at, in microseconds."""
    import tensorflow as tf

    one = tf.constant(1.0)
    function = tf.function(lambda x: x + 1.0)
    function(one)
    ways = {"undebugged": _calls(function, one, nullcontext)}
    ways["continue"] = _calls(function, one, _enabled(Continue()))
    ways["detached"] = _calls(function, one, _enabled(Detach()))
    timings = interleave(ways, rounds)
    base = timings.pop("undebugged").best  # what else the machine does is larger than what is measured
    print("\nA call of a tf.function that is not stopped at (goal: ≤ 20 µs)")
    for name, timing in timings.items():
        print(f"  {name:<44} {(timing.best - base) / _CALLS * 1e6:>10.1f} µs")


def _calls(function: Any, argument: Any, way: Way) -> Callable[[], object]:
    def calls() -> None:
        with way():
            for _ in range(_CALLS):
                function(argument)

    return calls


def _in_own_process(name: str, rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.function", name, str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _against_undebugged(way: Way, ours: bool, rounds: int) -> dict[str, float]:
    """Seconds of an undebugged and a debugged step, in turn.

    TensorFlow's tools act when a function is traced: they stay on, and the undebugged step was traced before. Ours
    acts on calls: it is on for the debugged ones.
    """
    from bench.gpt import build_step

    plain, debugged = build_step(), build_step()
    plain()
    every_call = way if ours else nullcontext

    def debugged_step() -> None:
        with every_call():
            float(debugged())

    with nullcontext() if ours else way():
        timings = interleave({"undebugged": lambda: float(plain()), "debugged": debugged_step}, rounds)
    assert plain.function.experimental_get_tracing_count() == 1  # type: ignore[attr-defined]
    return {name: timing.median for name, timing in timings.items()}


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _preparation(rounds: int) -> dict[str, float]:
    """Seconds to rewrite and register the function, and to make the graph for the screen; traced anew each time."""
    from bench.gpt import build_step
    from tfdbg_cli.capture.function.graph import function_graph
    from tfdbg_cli.capture.function.instrumented import instrument

    seconds: dict[str, list[float]] = {"capture": [], "graph": []}
    for _ in range(max(3, rounds // 4)):
        step = build_step()
        concrete = step.function.get_concrete_function(*step.arguments)  # type: ignore[attr-defined]
        seconds["capture"].append(_timed(lambda concrete=concrete: instrument(concrete)))
        seconds["graph"].append(_timed(lambda concrete=concrete: function_graph(concrete)))
    medians = {name: Timing(tuple(taken)).median for name, taken in seconds.items()}
    return {"ops": len(concrete.graph.get_operations()), **medians}


def main() -> None:
    """`python -m bench.function WAY ROUNDS`: one way, its numbers as JSON on the last line."""
    name, rounds = sys.argv[1], int(sys.argv[2])
    found = _against_undebugged(WAYS[name][0], name not in TOOLS, rounds) if name else _preparation(rounds)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
