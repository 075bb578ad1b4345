"""What debugging costs a session: a ResNet step undebugged, in every mode, and under TensorFlow's own tool."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.resnet import build_step, session_step
from bench.timing import interleave, print_added, print_ratios
from bench.trials import counted_trials
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import (
    CaptureRequest,
    Continue,
    DebugRun,
    Decision,
    Detach,
    GraphChoice,
    RunUntil,
    Values,
)
from tfdbg_cli.model.runs import RunEnd, Stop

WATCH = "watch (run -f has_inf_or_nan)"
_CALLS = 100
GOALS = {
    "wrapped, continue": 1.01,
    "wrapped, detached": 1.01,
    "all values in memory (run --graph python)": 2.5,
    WATCH: 1.10,
}


class Always:
    """A front end that gives the same decision at every stop."""

    settings = Settings()
    failures = 0
    broken = False

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    def stop(self, event: Stop) -> Decision:
        """Decide at once. A run that is to be captured again and again is asked for at its end, too."""
        if isinstance(event, RunEnd):
            assert event.run.error is None, event.run.error
            assert event.hit is None, "the benchmark's step has become non-finite"
        return self._decision

    def notify(self, message: str) -> None:
        """Say nothing."""


def wrapped(decision: Decision) -> Callable[[Any], Any]:
    """A wrapper of sessions whose every stop ends in `decision`."""
    return lambda session: DebuggedSession(session, Debugger(lambda: Always(decision)))


def tensorflows_watch(session: Any) -> Any:
    """TensorFlow's own wrapper under `run -f has_inf_or_nan`, without its prompt."""
    from tensorflow.python.debug.lib.debug_data import has_inf_or_nan
    from tensorflow.python.debug.wrappers import framework, local_cli_wrapper

    class ActiveWatch(local_cli_wrapper.LocalCLIDebugWrapperSession):  # type: ignore[misc]
        def _launch_cli(self) -> Any:
            self._active_tensor_filter = "has_inf_or_nan"
            return framework.OnRunStartResponse(framework.OnRunStartAction.DEBUG_RUN, self._get_run_debug_urls())

    root = Path(tempfile.mkdtemp())
    shutil.rmtree(root)
    wrapper = ActiveWatch(session, dump_root=str(root))
    wrapper.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
    return wrapper


def measure(rounds: int) -> None:
    """Measure and print."""
    graph, fetches, feed = build_step()
    watch = "has_inf_or_nan"
    python, runtime = CaptureRequest(graph=GraphChoice.PYTHON), CaptureRequest(graph=GraphChoice.RUNTIME)
    wrappers: dict[str, Callable[[Any], Any]] = {
        "undebugged": lambda session: session,
        "wrapped, continue": wrapped(Continue()),
        "wrapped, detached": wrapped(Detach()),
        "all values in memory (run --graph python)": wrapped(DebugRun(python)),
        WATCH: wrapped(RunUntil(watch)),
        "watch, all values kept (run -f … --values keep)": wrapped(RunUntil(watch, values=Values.KEEP)),
    }
    slow = {
        "undebugged": wrappers["undebugged"],
        "runtime graph (run --graph runtime)": wrapped(DebugRun(runtime)),
        "TensorFlow's run -f has_inf_or_nan": tensorflows_watch,
    }
    steps = {name: session_step(graph, fetches, feed, wrap) for name, wrap in wrappers.items()}
    title = f"ResNet training step in a session, {len(graph.get_operations())} nodes"
    with counted_trials() as trials:
        print_ratios(title, interleave(steps, rounds, unusual=trials), "undebugged", GOALS)
    steps = {name: session_step(graph, fetches, feed, wrap) for name, wrap in slow.items()}
    print_ratios(f"{title}: whole graphs by way of disk", interleave(steps, max(3, rounds // 5)), "undebugged", {})


def measure_calls(rounds: int) -> None:
    """What a wrapper that does not stop adds to the smallest possible run, in microseconds."""
    import tensorflow.compat.v1 as tf

    graph = tf.Graph()
    with graph.as_default():
        one = tf.constant(1.0)
    ways: dict[str, Callable[[], object]] = {}
    wrappers = {"undebugged": lambda s: s, "continue": wrapped(Continue()), "detached": wrapped(Detach())}
    for name, wrap in wrappers.items():
        session = wrap(tf.Session(graph=graph))
        ways[name] = lambda session=session: [session.run(one) for _ in range(_CALLS)]
    print_added("A run that is not stopped at", interleave(ways, rounds * 10), _CALLS)
