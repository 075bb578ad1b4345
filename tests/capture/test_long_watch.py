"""A day of training under a watch, in small: memory stays flat, and no files are left."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Decision, RunUntil, Values

pytestmark = [
    pytest.mark.tf,
    pytest.mark.usefixtures("temporary_files"),  # what other processes leave elsewhere is not ours
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc"),
]
_SETTLED = 100  # runs until allocators and caches have what they want
_RUNS = 240  # in the short tests
_MOST = 24 << 20  # bytes: less than a leak of four values a run takes in a short test, of 2 KiB a run in a long one
_SIDE = 112  # of a matrix: a value takes 49 KiB


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes leave in the folder of temporary files is not looked at."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def _enabled(decision: Decision) -> Iterator[Debugger]:
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    debugger = Debugger(lambda: ScriptedFrontend(decision))
    undo = intercept_all_functions(debugger)
    try:
        yield debugger
    finally:
        undo()


def _training() -> Callable[[], object]:
    import tensorflow as tf

    weight = tf.Variable(tf.random.stateless_normal([_SIDE, _SIDE], [1, 2]) / 11)
    slot = tf.Variable(tf.zeros([_SIDE, _SIDE]))
    draws = tf.random.Generator.from_seed(1)

    @tf.function
    def inner(x):
        return tf.nn.relu(x @ weight)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = inner(x + draws.normal([_SIDE, _SIDE]))
            for _ in tf.range(2):
                y = tf.tanh(y) if tf.reduce_sum(y) > 0 else -y
            loss = tf.reduce_mean(tf.square(y - 0.1))
        (gradient,) = tape.gradient(loss, [weight])
        slot.assign(0.9 * slot + gradient)
        weight.assign_sub(0.01 * slot)
        return loss

    x = tf.random.stateless_normal([_SIDE, _SIDE], [3, 4])
    return lambda: step(x)


def _session_training() -> Callable[[], object]:
    import tensorflow as tf

    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        fed = v1.placeholder(tf.float32, [_SIDE, _SIDE])
        with v1.variable_scope("w", use_resource=True):
            weight = v1.get_variable("w", [_SIDE, _SIDE])
        loss = tf.reduce_mean(tf.square(tf.matmul(fed, weight) - 0.1))
        train = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
        initialize = v1.global_variables_initializer()
    import numpy as np

    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    raw = v1.Session(graph=graph)
    raw.run(initialize)
    debugger = Debugger(lambda: ScriptedFrontend(RunUntil("has_inf_or_nan")))
    session = DebuggedSession(raw, debugger)
    batch = np.ones([_SIDE, _SIDE], np.float32)
    return lambda: session.run([loss, train], {fed: batch})


def _stays_flat(call: Callable[[], object], runs: int) -> None:
    for _ in range(_SETTLED):
        call()
    files, opened, before = set(os.listdir(tempfile.gettempdir())), _open_files(), _resident()
    for _ in range(runs - _SETTLED):
        call()
    grown = _resident() - before
    assert grown < _MOST, f"{grown / runs:.0f} bytes a run"
    left = {name for name in set(os.listdir(tempfile.gettempdir())) - files if "tfdbg" in name}
    assert not left
    assert _open_files() <= opened + 2


@pytest.mark.parametrize("values", [Values.KEEP, Values.REPLAY])  # AUTO is REPLAY: this step can be made again
def test_a_watched_function(values: Values) -> None:
    with _enabled(RunUntil("has_inf_or_nan", values=values)) as debugger:
        _stays_flat(_training(), _RUNS)
        assert debugger.run_count >= _RUNS


def test_a_watched_session() -> None:
    _stays_flat(_session_training(), _RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("values", [Values.KEEP, Values.REPLAY])
def test_twenty_thousand_runs_of_a_function(values: Values) -> None:
    with _enabled(RunUntil("has_inf_or_nan", values=values)) as debugger:
        _stays_flat(_training(), 20_000)
        assert debugger.run_count >= 20_000


@pytest.mark.slow
def test_twenty_thousand_runs_of_a_session() -> None:
    _stays_flat(_session_training(), 20_000)
