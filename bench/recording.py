"""What recording costs a function: a GPT step and a Keras fit, all values now and then, and statistics each step.

Blocks of steps take turns in one process, undebugged and recorded. What counts is the processor time of all threads,
the one that writes among them until it has nothing left to do: other programs on the machine change that little.
Beside it stands how long the program itself took, with the writing beside it as long as it lasts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import fit, gpt
from bench.session import Always
from bench.timing import Timing, Took, interleave, print_ratios
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.debugger.recording_controller import RecordingController
from tfdbg_cli.model.decision import Continue, RecordRuns

_STEPS = 10
_BUDGET = 4 << 30  # bytes
_WARM_UP = 2  # blocks
_PLAIN, _EVERY, _STATISTICS = "undebugged", "every 10th step recorded", "statistics of every step"
_GOALS = {_EVERY: 1.05, _STATISTICS: 1.30}
_WORKLOADS: Mapping[str, tuple[Callable[[], Callable[[], Any]], int]] = {
    "GPT training step as a tf.function": (gpt.build_step, _STEPS),
    f"Keras fit of a convolutional network, {fit.STEPS} steps": (fit.build_step, 1),
}


class _Steps:
    """A block of `times` calls of `step`, made in one way; `waited` is how long the program took for each block."""

    def __init__(self, step: Callable[[], Any], times: int) -> None:
        self._step = step
        self._times = times
        self.waited: list[float] = []

    def __call__(self, end: Callable[[], None] = lambda: None) -> Took:
        began, clock = time.process_time(), time.perf_counter()
        for _ in range(self._times):
            self._step()
        self.waited.append(time.perf_counter() - clock)
        end()
        return Took(time.process_time() - began)


class _Recorded:
    """Steps that are recorded as `asked` says, each block in a folder of its own."""

    def __init__(self, steps: _Steps, asked: RecordRuns, root: Path) -> None:
        self._steps = steps
        self._asked = asked
        self._root = root
        self._recorder = Recorder(Settings, lambda sentence: None)
        debugger = Debugger(lambda: Always(Continue()), recorder=self._recorder)
        self._controller = RecordingController(debugger, self._recorder)

    def __call__(self) -> Took:
        if not self._recorder.on:
            path = str(self._root / f"{self._asked.every}_{self._asked.stats_only}")
            self._recorder.begin(replace(self._asked, path=path))
        undo = intercept_all_functions(self._controller)
        try:
            return self._steps(self._recorder.settle)
        finally:
            undo()


def measure(rounds: int) -> None:
    """Measure and print."""
    for title, (build, times) in _WORKLOADS.items():
        step = build()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            steps = {name: _Steps(step, times) for name in (_PLAIN, _EVERY, _STATISTICS)}
            every = RecordRuns("", 10 if times > 1 else fit.STEPS, budget=_BUDGET)
            ways: dict[str, Callable[[], object]] = {
                _PLAIN: steps[_PLAIN],
                _EVERY: _Recorded(steps[_EVERY], every, root),
                _STATISTICS: _Recorded(steps[_STATISTICS], RecordRuns("", stats_only=True), root),
            }
            print_ratios(f"{title}, processor time", interleave(ways, rounds, _WARM_UP), _PLAIN, _GOALS)
            waited = {name: Timing(tuple(block.waited[_WARM_UP:])) for name, block in steps.items()}
            print_ratios(f"{title}, what the program takes", waited, _PLAIN, {})
