"""A program whose runs are watched at the line prompt: a run every few milliseconds, until it is interrupted.

With `own` it has a handler of its own for Ctrl-C; with `prints` it writes a line with every run. With
`thread` the runs are those of a thread, while the main one sleeps.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np

from tfdbg_cli.api.attendance import attended
from tfdbg_cli.api.frontends import choose_frontend
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger import progress_line
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

progress_line._BETWEEN_REWRITES = 0.1  # a second is long for those who wait for a line


class Pending:
    """A run about to happen."""

    def start(self, number: int) -> RunStart:
        return RunStart(Call(number, RunKind.FUNCTION, (), function="step"))

    def estimate(self, capture: object, watching: bool = False, directory: object = None) -> Estimate:
        return Estimate(1, 8, 0, 1 << 20, "memory")

    def arguments(self) -> tuple[object, object]:
        return (), {}


def _theirs(number: int, frame: object) -> None:
    print("their handler", flush=True)


def main() -> None:
    """Make runs."""
    if "own" in sys.argv:
        signal.signal(signal.SIGINT, _theirs)
    handler = signal.getsignal(signal.SIGINT)
    front = choose_frontend("line")
    debugger = Debugger(lambda: front, settings=Settings(), attended=lambda: attended("line"))
    debugger.interruption.stand_by()
    try:
        if "thread" in sys.argv:
            threading.Thread(target=_make_runs, args=(debugger, handler), daemon=True).start()
            time.sleep(280)  # longer than whoever drives it waits
        else:
            _make_runs(debugger, handler)
    except KeyboardInterrupt:
        print("interrupted as ever", flush=True)


def _make_runs(debugger: Debugger, handler: object) -> None:
    for number in range(1, 100_000):
        plan = debugger.run_starts(Pending())  # type: ignore[arg-type]
        time.sleep(0.005)
        if "prints" in sys.argv:
            print("step", number, flush=True)
        if not plan.watching:
            assert signal.getsignal(signal.SIGINT) is handler
            print("not watched", flush=True)
            continue
        value = np.array([float(number)], np.float32)
        tensor = describe(TensorName("y", 0), value, device="", op_type="Add", dtype="float32")
        call = Call(number, RunKind.FUNCTION, (), function="step")
        debugger.run_ends(plan, Run(call, MemoryTensorStore([tensor], [value])))


main()
