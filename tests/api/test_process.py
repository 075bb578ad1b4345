"""Debugging a whole process: the public functions and the Keras callback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.libraries import library
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Continue, DebugRun, Detach

pytestmark = pytest.mark.tf
RUN = DebugRun()


@pytest.fixture
def tf() -> Any:
    import tensorflow as tf

    return tf


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedFrontend]:
    """The front end of a fresh process debugger; at the end TensorFlow must be as it was."""
    from tfdbg_cli.api import process_debugger
    from tfdbg_cli.capture.tf import base_classes, compat

    classes = [
        (base_classes.function_class(), "__call__"),
        (compat.atomic_class(), "call_flat"),
        (base_classes.plain_base(), "run"),
    ]
    before = [vars(kind)[name] for kind, name in classes]
    scripted = ScriptedFrontend()
    process_debugger.process_debugger.cache_clear()
    monkeypatch.setattr(process_debugger, "choose_frontend", lambda *_, **__: scripted)
    yield scripted
    process_debugger.process_debugger.cache_clear()
    assert [vars(kind)[name] for kind, name in classes] == before


@pytest.fixture
def add(tf: Any) -> Any:
    @tf.function
    def add(x: Any) -> Any:
        return tf.math.log(x)

    return add


def test_enabled_until_disabled(tf, front, add) -> None:
    front.script = [RUN, RUN]
    add(tf.constant(1.0))
    tf_debug.enable()
    add(tf.constant(1.0))
    tf_debug.disable()
    add(tf.constant(1.0))
    assert front.path == ["start 1", "end 1"]


def test_contexts_nest(tf, front, add) -> None:
    front.script = [RUN, RUN, RUN]
    with tf_debug.debugging():
        add(tf.constant(1.0))
        with tf_debug.debugging():
            add(tf.constant(1.0))
        add(tf.constant(1.0))
    add(tf.constant(1.0))
    assert front.path == ["start 1", "end 1", "end 2", "end 3"]


def test_disabling_what_is_not_enabled_does_nothing(tf, front, add) -> None:
    plain = tf.compat.v1.Session.run
    tf_debug.disable()
    assert tf.compat.v1.Session.run is plain
    add(tf.constant(1.0))
    front.script = [RUN]
    with tf_debug.debugging():
        assert tf.compat.v1.Session.run is not plain
        add(tf.constant(1.0))
    assert tf.compat.v1.Session.run is plain
    assert front.path == ["start 1", "end 1"], "enabling counts from there, and is undone at once"


def _failing(*_: object, **__: object) -> Any:
    raise AttributeError("moved in TensorFlow")


@pytest.mark.parametrize("place", ["sessions", "functions", "iterators", "seat", "watch"])
def test_where_enabling_fails_nothing_is_enabled(tf, front, add, monkeypatch, place) -> None:
    """A blind test: what had been replaced by then stayed so for good, and the next `enable` did nothing."""
    from tfdbg_cli.api import process_debugger
    from tfdbg_cli.capture.intercept import all_sessions
    from tfdbg_cli.capture.runs.delivered import DELIVERIES

    owner, name = {
        "sessions": (all_sessions, "_within_monitored"),
        "functions": (process_debugger, "intercept_all_functions"),
        "iterators": (DELIVERIES, "_losing"),
        "seat": (process_debugger, "load_beside"),
        "watch": (process_debugger.ProcessDebugger, "_begin"),
    }[place]
    process = process_debugger.process_debugger()
    before = tf.compat.v1.Session.run, process.debugger.attendant
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, _failing)
        for _ in range(2):
            with pytest.raises(AttributeError, match="moved"):
                tf_debug.enable()
            assert not process.on
            assert (tf.compat.v1.Session.run, process.debugger.attendant) == before
    front.script = [RUN, RUN]
    with tf_debug.debugging():
        add(tf.constant(1.0))
    assert front.path == ["start 1", "end 1"]


def test_where_listening_to_ops_fails_none_is_listened_to(tf, monkeypatch) -> None:
    """A blind test: who listened then stayed among the listeners, and half of what was replaced stayed so."""
    from tfdbg_cli.capture.runs.eager.ops import OPS
    from tfdbg_cli.capture.tf import compat

    names = [compat.FAST_EXECUTOR, compat.SLOW_EXECUTOR, compat.TAPE, compat.NEW_TAPE]
    before = [getattr(compat.EXECUTORS, name) for name in names]
    with monkeypatch.context() as patched:
        patched.setattr(compat, "set_tape_gradient", _failing)
        with suppress(AttributeError):
            OPS.listen(None)  # type: ignore[arg-type]
    assert [getattr(compat.EXECUTORS, name) for name in names] == before
    assert OPS._listeners == ()


class _Elsewhere:
    """Notes whether another thread could take `lock`, when this is called."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.free: list[bool] = []

    def __call__(self, *_: object) -> None:
        def look() -> None:
            self.free.append(taken := self._lock.acquire(blocking=False))
            if taken:
                self._lock.release()

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()


def test_others_may_enable_while_one_has_it_told_or_is_at_the_prompt(tf, front, monkeypatch) -> None:
    """A blind test: with the lock held one waited for the seat, who had it for the lock, and both for ever."""
    from tfdbg_cli.api import process_debugger
    from tfdbg_cli.api.launch_options import launch_options
    from tfdbg_cli.capture.runs.eager.watch import EagerWatch

    process = process_debugger.process_debugger()
    told, ended = _Elsewhere(process._lock), _Elsewhere(process._lock)
    seat = SimpleNamespace(register=told)
    monkeypatch.setattr(process_debugger, "launch_options", lambda: replace(launch_options(), seat=seat))
    tf_debug.enable()
    monkeypatch.setattr(EagerWatch, "end", ended)
    tf_debug.disable()
    assert told.free == [True]
    assert ended.free == [True]


@pytest.mark.parametrize("moment", ["comes", "tensorflow_is_there", "leaves"])
def test_a_visitor_has_it_enabled_or_disabled_without_the_lock_of_the_seat(monkeypatch, moment) -> None:
    """A blind test: who enables has the lock of the debugger and asks for that of the seat; here it was reversed."""
    from tfdbg_cli.api import process_debugger, reception

    monkeypatch.setattr(
        reception, "listen", lambda _: (SimpleNamespace(fileno=lambda: -1), SimpleNamespace(number=1, path=""))
    )
    desk = reception.Reception("program", None, dormant=True, waits=False)
    seen = _Elsewhere(desk.seat.lock)
    stand_in = SimpleNamespace(enable=seen, disable=seen)
    monkeypatch.setattr(process_debugger, "process_debugger", lambda: stand_in)
    desk.seat.visitor = SimpleNamespace()  # type: ignore[assignment]
    if moment != "tensorflow_is_there":
        desk.tensorflow_is_there()
        desk.comes()
    if moment == "leaves":
        desk.leaves(decided=False)
        assert desk.seat.visitor is None
    else:
        desk.tensorflow_is_there()
    assert seen.free == [True] * (2 if moment == "leaves" else 1)


def test_one_debugger_counts_sessions_and_functions(tf, front, add) -> None:
    front.script = [RUN, RUN, RUN]
    with tf_debug.debugging():
        add(tf.constant(1.0))
        with tf.Graph().as_default():
            y = tf.constant(1.0) + 1.0
            with tf.compat.v1.Session() as session:
                session.run(y)
    assert front.path == ["start 1", "end 1", "end 2"]


def test_stop_opens_the_prompt_at_the_next_run(tf, front, add) -> None:
    front.script = [Continue(), Detach()]
    with tf_debug.debugging():
        add(tf.constant(1.0))
        add(tf.constant(1.0))
        tf_debug.stop()
        add(tf.constant(1.0))
    assert front.path == ["start 1", "start 3"]


def test_stop_enables_what_is_not_enabled(tf, front, add) -> None:
    front.script = [Detach()]
    tf_debug.stop()
    add(tf.constant(1.0))
    tf_debug.disable()
    assert front.path == ["start 1"]


def test_a_watch_stops_where_its_filter_passes(tf, front, add) -> None:
    with tf_debug.debugging():
        tf_debug.set_watch("has_inf_or_nan")
        for x in (1.0, 0.0, 1.0):
            add(tf.constant(x))
    assert front.path == ["end 2"]
    assert front.ends[0].hit is not None


def test_a_watch_can_be_ended(tf, front, add) -> None:
    with tf_debug.debugging():
        tf_debug.set_watch("has_inf_or_nan")
        add(tf.constant(1.0))
        tf_debug.set_watch(None)
        add(tf.constant(0.0))
    assert front.path == []


def test_a_watch_by_an_unknown_filter_is_refused(front) -> None:
    with tf_debug.debugging(), pytest.raises(TfdbgError, match="There is no filter 'has_inff'") as error:
        tf_debug.set_watch("has_inff")
    assert "has_inf_or_nan" in error.value.hint


def test_a_watch_for_what_is_no_name_says_how_a_filter_gets_one(front) -> None:
    with tf_debug.debugging(), pytest.raises(TfdbgError, match="by its name") as error:
        tf_debug.set_watch(lambda datum, tensor: True)  # type: ignore[arg-type]
    assert "add_tensor_filter" in error.value.hint


def test_filters_of_the_program(tf, front, add) -> None:
    tf_debug.add_tensor_filter(
        "negative", lambda datum, tensor: datum.node_name == "Log" and bool((tensor < 0).any())
    )
    with tf_debug.debugging():
        tf_debug.set_watch("negative")
        for x in (1.0, 0.5):
            add(tf.constant(x))
    assert front.path == ["end 2"]


def test_wrapped_functions_share_the_debugger(tf, front, add) -> None:
    front.script = [RUN, RUN]
    wrapped, other = tf_debug.wrap_function(add), tf_debug.wrap_function(lambda x: x + 1.0)
    wrapped(tf.constant(1.0))
    other(tf.constant(1.0))
    assert front.path == ["start 1", "end 1", "end 2"]
    del wrapped, other


def test_a_block_of_eager_code(tf, front) -> None:
    front.script = [RUN]
    with tf_debug.debugging(eager=True):
        tf.math.log(tf.constant(0.0))
    assert front.path == ["start 1", "end 1"]
    assert "Log_0" in front.ends[0].run.graph


def test_dumps_are_kept_where_they_are_wanted(tf, front, add, tmp_path) -> None:
    front.script = [RUN]
    with tf_debug.debugging(dump_root=str(tmp_path / "dumps")):
        add(tf.constant(1.0))
    (folder,) = (tmp_path / "dumps").iterdir()
    opened = tf_debug.open_recording(str(folder)).runs[0]
    assert opened.call.title == "run #1: add(x)"
    row = opened.tensors.named("Log", 0)[0]
    assert opened.tensors.value(row) == 0


@pytest.mark.parametrize("call", [tf_debug.enable, lambda ui: tf_debug.wrap_function(len, ui)])
def test_an_unknown_front_end_is_refused(front, call) -> None:
    with pytest.raises(ValueError, match="no front end 'window'"):
        call("window")


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
def test_the_callback_debugs_a_fit(tf, front, name) -> None:
    keras = library(name)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((8, 2), "float32"), np.ones((8, 1), "float32")
    front.script = [RUN] * 20
    callback = tf_debug.DebuggerCallback()
    model.fit(x, y, batch_size=4, verbose=0, validation_data=(x, y), callbacks=[callback])
    assert len(front.ends) == 2 + 2
    model.evaluate(x, y, verbose=0, callbacks=[callback])
    model.predict(x, verbose=0, callbacks=[callback])
    assert len(front.ends) == 6
    model.fit(x, y, verbose=0)
    assert len(front.ends) == 6


def test_the_callback_can_watch(tf, front) -> None:
    import keras

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((8, 2), "float32"), np.ones((8, 1), "float32")
    x[5] = np.nan
    model.fit(
        x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[tf_debug.DebuggerCallback(watch="has_inf_or_nan")]
    )
    assert front.path == ["end 2"]


def test_a_fit_that_failed_leaves_nothing_for_the_next(tf, front) -> None:
    import keras

    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None) -> None:
            raise RuntimeError("theirs")

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((8, 2), "float32"), np.ones((8, 1), "float32")
    callback = tf_debug.DebuggerCallback()
    front.script = [Detach()]
    with pytest.raises(RuntimeError, match="theirs"):
        model.fit(x, y, verbose=0, callbacks=[callback, Interrupt()])
    model.fit(x, y, verbose=0, callbacks=[callback])
