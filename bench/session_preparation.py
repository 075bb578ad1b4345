"""What it takes, once, to make a session's graph ready for a watch, and from a hit to the screen.

Apart stands what TensorFlow takes: it adds the checks to the graph and compiles that, once more on copies (in a
second thread, beside it: `clock` is shorter than `all`), and at a hit once more with all values fetched. Our own part
is the time of the thread that runs the program outside of TensorFlow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.session import Always
from bench.session_graphs import KINDS, Step
from tfdbg_cli.analysis.watch import watch_progress
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Detach, RunUntil
from tfdbg_cli.model.runs import RunEnd, Stop

SIZES = (2_400, 10_000, 20_000)
GOAL = 2.0  # seconds of our own at 20 000 ops
_WATCH = RunUntil("has_inf_or_nan")


def measure() -> None:
    """Measure each in a process of its own, and print."""
    print(f"\nMaking a session's graph ready for a watch, once: seconds of CPU (ours at 20,000 ops: ≤ {GOAL})")
    print(f"  {'':<28} {'ops':>7} {'plain':>7} {'ours':>7} {'all':>7} {'clock':>7} {'hit: ours':>10} {'all':>7}")
    for kind in KINDS:
        for size in SIZES:
            found = _in_own_process(kind, size)
            numbers = (found[name] for name in ("plain", "own", "watch", "clock", "hit_own", "hit"))
            plain, own, watch, clock, hit_own, hit = numbers
            print(
                f"  {kind:<28} {found['ops']:>7,.0f} {plain:>7.2f} {own:>7.2f} {watch:>7.2f} {clock:>7.2f}"
                f" {hit_own:>10.2f} {hit:>7.2f}",
                flush=True,
            )


def _in_own_process(kind: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.session_preparation", kind, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=dict(os.environ))
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass
class _Took:
    """Seconds of CPU: of the process, and of this thread outside of TensorFlow's calls; and those of a clock."""

    everything: float = 0.0
    own: float = 0.0
    clock: float = 0.0


class _Clock:
    """Tells what this thread spends in the calls of TensorFlow's sessions from the rest."""

    def __init__(self) -> None:
        self._inside = 0.0
        self._depth = 0
        self._thread = threading.get_ident()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A context in which those calls are counted."""
        from tensorflow.python.client import session
        from tensorflow.python.framework import importer

        native = session.tf_session
        names = (
            "TF_SessionRun_wrapper", "ExtendSession", "TF_SessionMakeCallable", "TF_SessionRunCallable",
            "TF_GraphImportGraphDefWithResults",
        )  # fmt: skip
        places = [(native, name) for name in names]
        places.append((importer, "_import_graph_def_internal"))
        originals = [getattr(module, name) for module, name in places]
        for (module, name), original in zip(places, originals, strict=True):
            setattr(module, name, self._counted(original))
        try:
            yield
        finally:
            for (module, name), original in zip(places, originals, strict=True):
                setattr(module, name, original)

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            if threading.get_ident() != self._thread:
                return original(*arguments, **keywords)
            began = time.thread_time()
            self._depth += 1
            try:
                return original(*arguments, **keywords)
            finally:
                self._depth -= 1
                if not self._depth:
                    self._inside += time.thread_time() - began

        return call

    def took(self, call: Callable[[], object]) -> _Took:
        """What `call` takes."""
        self._inside = 0.0
        everything, thread, clock = time.process_time(), time.thread_time(), time.monotonic()
        call()
        own = time.thread_time() - thread - self._inside
        return _Took(time.process_time() - everything, own, time.monotonic() - clock)


class _Reading(Always):
    """Begins the watch, and at a hit reads every value, as the first screen does."""

    def __init__(self) -> None:
        super().__init__(_WATCH)
        self.hits = 0

    def stop(self, event: Stop) -> Any:
        if not isinstance(event, RunEnd):
            return _WATCH
        self.hits += 1
        for row in range(len(event.run.tensors)):
            event.run.tensors.value(row)
        return Detach()


def _found(step: Step) -> dict[str, float]:
    import tensorflow.compat.v1 as tf

    watch_progress._BETWEEN_SAMPLES = float("inf")  # on a slow machine one would fall into what is measured
    clock = _Clock()
    with step.graph.as_default(), clock.watching():
        plain_session, raw = tf.Session(graph=step.graph), tf.Session(graph=step.graph)
        for one in (plain_session, raw):
            one.run(step.init)
        front = _Reading()
        session = DebuggedSession(raw, Debugger(lambda: front))
        session.run(step.init)  # the watch begins here
        plain = clock.took(lambda: plain_session.run(step.fetches, dict(step.feed)))
        watch = clock.took(lambda: session.run(step.fetches, dict(step.feed)))
        bad = {place: np.full_like(value, np.nan) for place, value in step.feed.items()}
        hit = clock.took(lambda: session.run(step.fetches, bad))
        assert front.hits == 1, "the watch did not stop"
    return {
        "ops": len(step.graph.get_operations()), "plain": plain.everything, "own": watch.own,
        "watch": watch.everything, "clock": watch.clock, "hit_own": hit.own, "hit": hit.everything,
    }  # fmt: skip


def main() -> None:
    """`python -m bench.session_preparation KIND SIZE`: its numbers as JSON on the last line."""
    kind, size = sys.argv[1], int(sys.argv[2])
    _found(KINDS[kind](50))  # what is loaded at the first call of all
    print(json.dumps(_found(KINDS[kind](size))))


if __name__ == "__main__":
    main()
