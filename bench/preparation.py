"""What it takes, once, to make a function ready for a watch or a capture: GPT steps of some 2 000 and 15 000 ops.

Beside it stands what TensorFlow takes to make the plain function ready, when it is called first: a watch has it make
one more, with its checks, and where the plain one ran before the watch, a copy of that to compare with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from bench import gpt
from bench.timing import Timing
from bench.ways import ALL_VALUES, WATCH, WAYS, enabled
from tfdbg_cli.model.decision import Detach

GOALS = {4: 2.0, 34: 4.0}  # seconds, by layers
_GRAPH = "its graph, for the screen"
Spent: TypeAlias = tuple[float, float]  # seconds of a clock, and of the processor


def measure(rounds: int) -> None:
    """Measure each in processes of its own, and print."""
    for layers, goal in GOALS.items():
        several = max(1, rounds // 7) if layers == 4 else 1
        found = [_in_own_process(layers, way) for way in (WATCH, ALL_VALUES) for _ in range(several)]
        ops = found[0]["ops"]
        print(
            f"\nMaking a function of {ops:,.0f} ops ready, once, in seconds (goal of a watch, proof included: {goal})"
        )
        print(f"  {'':<60} {'clock':>8} {'processor':>10}")
        _print("TensorFlow's own, at the first plain call", [one["plain"] for one in found])
        for way in (WATCH, ALL_VALUES):
            _print(f"{way}, before any plain call", [one["first"] for one in found if one["way"] == way])
            _print(f"{way}, after a plain call", [one["later"] for one in found if one["way"] == way])
        _print(_GRAPH, [one["graph"] for one in found])


def _print(what: str, spent: list[Spent]) -> None:
    clock, processor = (Timing(seconds).median for seconds in zip(*spent, strict=True))
    print(f"  {what:<60} {clock:>8.2f} {processor:>10.2f}", flush=True)


def _in_own_process(layers: int, way: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.preparation", str(layers), way]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _spent(call: Callable[[], object]) -> Spent:
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - processor


def _beyond(spent: Spent, usual: Spent) -> Spent:
    return spent[0] - usual[0], spent[1] - usual[1]


def _first_call(layers: int, way: str, *, plain_before: bool) -> tuple[Spent, Spent]:
    """What the first plain call takes more than the second, and the first debugged call more than a plain one."""
    step = gpt.build_step(width=64, layers=layers, batch=2, length=16)
    step.function.get_concrete_function(*step.arguments)  # type: ignore[attr-defined]
    first = _spent(step) if plain_before else (0.0, 0.0)
    with WAYS[way]():
        debugged = _spent(step)
    step()
    usual = _spent(step)
    return _beyond(first, usual), _beyond(debugged, usual)


def main() -> None:
    """`python -m bench.preparation LAYERS WAY`: its numbers as JSON on the last line."""
    from tfdbg_cli.capture.functions.graph.function_graph import function_graph

    layers, way = int(sys.argv[1]), sys.argv[2]
    with enabled(Detach())():
        gpt.build_step(width=64, layers=1, batch=2, length=16)()  # what is loaded at the first call of all
    _first_call(1, way, plain_before=False)
    first = _first_call(layers, way, plain_before=False)[1]
    plain, later = _first_call(layers, way, plain_before=True)
    step = gpt.build_step(width=64, layers=layers, batch=2, length=16)
    concrete = step.function.get_concrete_function(*step.arguments)  # type: ignore[attr-defined]
    graph = _spent(lambda: function_graph(concrete))
    ops = len(concrete.graph.get_operations())
    print(json.dumps({"way": way, "ops": ops, "plain": plain, "first": first, "later": later, "graph": graph}))


if __name__ == "__main__":
    main()
