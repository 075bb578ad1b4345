"""The ways to debug a function that are measured: ours, and TensorFlow's own tools beside them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeAlias

from bench.session import Always
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

Way: TypeAlias = Callable[[], AbstractContextManager[Any]]

ALL_VALUES = "all values in memory (run)"
WATCH = "watch (run -f has_inf_or_nan)"
WATCH_RESULTS = "watch (run -f bad_result)"
KEEP, REPLAY = f"{WATCH}, keep", f"{WATCH}, replay"


def enabled(decision: Decision) -> Way:
    """Every function call asks one debugger, which decides so at each stop."""

    @cache
    def debugger() -> Debugger:
        return Debugger(lambda: Always(decision))

    @contextmanager
    def way() -> Iterator[None]:
        from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

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


_FILTER = "has_inf_or_nan"
# Ours, by what is decided at each stop.
DECISIONS: dict[str, Decision] = {
    "enabled, continue": Continue(),
    "enabled, detached": Detach(),
    ALL_VALUES: DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)),  # the choice is for sessions
    WATCH: RunUntil(_FILTER),
    WATCH_RESULTS: RunUntil("bad_result"),
    KEEP: RunUntil(_FILTER, values=Values.KEEP),
    REPLAY: RunUntil(_FILTER, values=Values.REPLAY),
}
# Name, and how it is switched on.
WAYS: dict[str, Way] = {
    **{name: enabled(decision) for name, decision in DECISIONS.items()},
    "TensorFlow's enable_check_numerics": _check_numerics,
    "Debugger V2, CURT_HEALTH": lambda: _debugger_v2("CURT_HEALTH"),
    "Debugger V2, FULL_HEALTH": lambda: _debugger_v2("FULL_HEALTH"),
}

# TensorFlow's act when a function is traced, and for the whole process.
TOOLS = frozenset(name for name in WAYS if "TensorFlow" in name or "V2" in name)
