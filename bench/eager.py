"""What debugging costs code that runs eagerly: a training step of four dense layers with a tape, of three widths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from statistics import median, quantiles
from typing import Any

import numpy as np

from bench.session import Always
from bench.timing import Took, interleave
from bench.ways import TOOLS, WATCH, WAYS, Way
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Continue, Decision, RunUntil

WIDTHS = (32, 256, 768)
_BATCH, _LAYERS = 64, 4
_STEPS, _TURNS = 20, 1  # in a turn, and turns in a round
# Of ours, which are switched on and off at no cost: so short that what else runs slows a turn and the next one alike.
_OUR_STEPS, _OUR_TURNS = 4, 5
_ENABLED = "enabled, continue"
GOALS: Mapping[tuple[int, str], float] = {
    **{(width, _ENABLED): 1.02 for width in WIDTHS},
    (32, WATCH): 1.5,
    (256, WATCH): 1.25,
    (768, WATCH): 1.25,
}


def _enabled(decision: Decision) -> Way:
    """Every op asks one debugger, which decides so at the first stop."""

    @cache
    def debugger() -> Debugger:
        from tfdbg_cli.capture.runs.eager.watch import watch_of

        made = Debugger(lambda: Always(decision))
        made.attendant = watch_of(made)
        if isinstance(decision, RunUntil):
            made.set_watch(decision)
        else:
            made.set_watch(None)
        return made

    @contextmanager
    def way() -> Iterator[None]:
        attendant = debugger().attendant
        assert attendant is not None
        attendant.attend(isinstance(decision, RunUntil))
        try:
            yield
        finally:
            attendant.attend(False)

    return way


EAGER_WAYS: Mapping[str, Way] = {
    _ENABLED: _enabled(Continue()),
    WATCH: _enabled(RunUntil("has_inf_or_nan")),
    **{name: way for name, way in WAYS.items() if name in TOOLS},
}


def build_step(width: int) -> Callable[[], Any]:
    """A step of SGD on a network of dense layers."""
    import tensorflow as tf

    chance = np.random.default_rng(0)
    weights = [tf.Variable((chance.normal(size=(width, width)) / width**0.5).astype("f")) for _ in range(_LAYERS)]
    biases = [tf.Variable(np.zeros(width, "f")) for _ in range(_LAYERS)]
    x = tf.constant(chance.normal(size=(_BATCH, width)).astype("f"))

    def step() -> Any:
        with tf.GradientTape() as tape:
            hidden = x
            for weight, bias in zip(weights, biases, strict=True):
                hidden = tf.nn.relu(hidden @ weight + bias)
            loss = tf.reduce_mean(hidden * hidden)
        for variable, gradient in zip(weights + biases, tape.gradient(loss, weights + biases), strict=True):
            variable.assign_sub(1e-4 * gradient)
        return loss

    return step


def measure(rounds: int) -> None:
    """Measure each way in a process of its own, and print."""
    for width in WIDTHS:
        print(f"\nEager training step, {_LAYERS} dense layers of {width}, batch {_BATCH}, with a tape")
        print(f"  {'way':<44} {'median ms':>10} {'ratio':>8} {'goal':>8} {'half of them':>16} {'of CPU':>8}")
        for name in EAGER_WAYS:
            command = [sys.executable, "-m", "bench.eager", str(width), name, str(rounds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
            found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
            goal = GOALS.get((width, name))
            aim = "" if goal is None else f"≤ {goal:.2f}"
            half = f"[{found['low']:.3f}, {found['high']:.3f}]"
            print(
                f"  {name:<44} {found['seconds'] * 1e3:>10.2f} {found['ratio']:>8.3f} {aim:>8} {half:>16}"
                f" {found['cpu']:>8.3f}",
                flush=True,
            )


def _against_undebugged(width: int, name: str, rounds: int) -> dict[str, float]:
    """What a debugged step takes: seconds, and the ratio to the undebugged one, by the clock and by CPU time.

    Compared are neighbours: the median of the ratios of turns that follow each other, with half of them between `low`
    and `high`. The ratio of CPU time tells more where other programs run beside.
    """
    step, way = build_step(width), EAGER_WAYS[name]
    count, turns = (_STEPS, _TURNS) if name in TOOLS else (_OUR_STEPS, _OUR_TURNS)
    cpu: dict[str, list[float]] = {"undebugged": [], "debugged": []}

    def steps(title: str, around: Way) -> Took:
        with around():
            cpu_began, began = time.process_time(), time.perf_counter()
            for _ in range(count):
                step()
            took = Took((time.perf_counter() - began) / count)
            cpu[title].append(time.process_time() - cpu_began)
            return took

    ways = {"undebugged": lambda: steps("undebugged", nullcontext), "debugged": lambda: steps("debugged", way)}
    warm_up = 2 * turns
    timings = interleave(ways, rounds * turns, warm_up)
    pairs = zip(timings["debugged"].seconds, timings["undebugged"].seconds, strict=True)
    low, ratio, high = quantiles(debugged / plain for debugged, plain in pairs)
    both = list(zip(cpu["debugged"], cpu["undebugged"], strict=True))[warm_up:]
    cpu_ratio = median(debugged / plain for debugged, plain in both)
    return {"seconds": timings["debugged"].median, "ratio": ratio, "low": low, "high": high, "cpu": cpu_ratio}


def main() -> None:
    """`python -m bench.eager WIDTH WAY ROUNDS`: one way, its numbers as JSON on the last line."""
    width, name, rounds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    print(json.dumps(_against_undebugged(width, name, rounds)))


if __name__ == "__main__":
    main()
