"""What a watched loop holds does not grow with its turns, and tensors die where they did without the watch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf

_WIDTH = 256  # a weight takes 256 KiB
_BUDGET = 64 << 20


class _Watched:
    """A watch that finds nothing, with a budget for values."""

    def __enter__(self) -> None:
        self._debugger = Debugger(lambda: ScriptedFrontend(), settings=Settings(memory_budget=_BUDGET))
        self._debugger.attendant = self._watch = watch_of(self._debugger)
        self._debugger.set_watch(RunUntil("has_inf_or_nan"))

    def __exit__(self, *_: object) -> None:
        self._watch.end()
        assert self._watch.seen.every > 100
        self._debugger.attendant = None
        self._watch.attend(False)


def _step(heard: Callable[[str, Any], None] = lambda name, tensor: None) -> Callable[[], None]:
    chance = np.random.default_rng(0)
    weights = [tf.Variable((chance.normal(size=(_WIDTH, _WIDTH)) / 30).astype("f")) for _ in range(3)]
    kept = [tf.Variable(tf.zeros([_WIDTH, _WIDTH])) for _ in weights]

    def step() -> None:
        x = tf.constant(chance.normal(size=(_WIDTH, _WIDTH)).astype("f"))
        heard("batch", x)
        with tf.GradientTape() as tape:
            for weight in weights:
                x = tf.nn.relu(x @ weight)
                heard("layer", x)
            loss = tf.reduce_mean(x * x)
        heard("loss", loss)
        gradients = tape.gradient(loss, weights)
        for own, weight, gradient in zip(kept, weights, gradients, strict=True):
            heard("gradient", gradient)
            own.assign(own * 0.9 + gradient)
            weight.assign_sub(1e-4 * own)

    return step


def _resident() -> int:
    """Bytes of this process that are in memory now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _in_turns(step: Callable[[], None], times: int) -> None:
    for _ in range(times):
        step()


def _in_no_loop(step: Callable[[], None], times: int) -> None:
    """All that these steps do is one run, since nothing tells where one of them ends."""
    if times:
        step()
        _in_no_loop(step, times - 1)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory is in use")
@pytest.mark.parametrize("steps", [_in_turns, _in_no_loop])
def test_memory_is_flat(steps) -> None:
    step = _step()
    _in_turns(step, 20)
    plain = _resident()
    with _Watched():
        steps(step, 20)
        early, objects = _resident(), len(gc.get_objects())
        steps(step, 80)
        late, more = _resident(), len(gc.get_objects())
    assert late - early < _BUDGET / 4, "a step makes 5 MiB, and one of its tensors in each is 20 MiB"
    assert late < 1.2 * plain + _BUDGET
    assert steps is _in_no_loop or more - objects < 2_000, "a step runs 40 ops"


def _ends_of_life(*, watched: bool) -> list[str]:
    """What the tensors of three steps were, in the order in which they died, with the steps' ends between."""
    said: list[str] = []
    alive: list[Any] = []

    def heard(name: str, tensor: Any) -> None:
        alive.append(weakref.ref(tensor, lambda _, name=name: said.append(name)))  # type: ignore[misc]

    step = _step(heard)
    gc.collect()
    gc.disable()  # what dies late, in a circle, is told by the end of the step
    try:
        with _Watched() if watched else nullcontext():
            for _ in range(5):
                step()
                said.append("end of step")
    finally:
        gc.enable()
    assert len(alive) == 5 * 8
    return said


def test_tensors_die_where_they_did() -> None:
    plain = _ends_of_life(watched=False)
    assert plain.count("gradient") == 15
    assert _ends_of_life(watched=True) == plain
