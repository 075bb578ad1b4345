"""Debugging a whole process: the public functions and the Keras callback."""

from __future__ import annotations

from collections.abc import Iterator
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
