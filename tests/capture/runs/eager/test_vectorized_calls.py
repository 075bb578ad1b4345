"""What TensorFlow vectorizes is a part of the eager turn in which it does: tf.vectorized_map, jacobians of a tape.

So is what it computes for a forward accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.eager import vectorized_calls
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf


def _mapped(x: Any, weight: Any) -> Any:
    return tf.vectorized_map(lambda row: row / tf.reduce_sum(row) + tf.reduce_sum(weight), x)


def _jacobian(x: Any, weight: Any) -> Any:
    with tf.GradientTape() as tape:
        y = tf.sqrt(x @ weight)[:, 0]
    return tape.jacobian(y, weight)


def _forward_mode(x: Any, weight: Any) -> Any:
    total = tf.reduce_sum(x, axis=1)
    with tf.autodiff.ForwardAccumulator(total, tf.ones_like(total)) as accumulator:
        y = tf.sqrt(total)
    return accumulator.jvp(y) * weight[0]


def _losses(made_of: Callable[[Any, Any], Any]) -> list[bytes]:
    """Those of four turns with five rows; the second row of the third is 0."""
    batches = np.random.default_rng(0).random((4, 5, 3)).astype(np.float32)
    batches[2, 1] = 0
    weight, losses = tf.Variable(tf.ones([3, 1])), []
    for batch in batches:
        x = tf.constant(batch)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(made_of(x, weight) ** 2)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        losses.append(loss.numpy().tobytes())
    return losses


def _stopped(filter_name: str, made_of: Callable[[Any, Any], Any]) -> RunEnd:
    """The first stop of a watch of `_losses`, which gives what it gives without."""
    front = ScriptedFrontend(RunUntil(filter_name))
    debugger = Debugger(lambda: front)
    watch = debugger.attendant = watch_of(debugger)
    plain = _losses(made_of)
    with ExitStack() as undo:
        undo.callback(intercept_all_functions(debugger))
        undo.callback(watch.attend, False)
        debugger.set_watch(RunUntil(filter_name))
        assert _losses(made_of) == plain
        watch.end()
    return front.ends[0]


@pytest.mark.parametrize("filter_name", ["has_inf_or_nan", "bad_result"])
@pytest.mark.parametrize(("made_of", "op_type"), [(_mapped, "RealDiv"), (_jacobian, "SqrtGrad")])
def test_the_turn_is_the_run_and_its_row_is_found(
    made_of: Callable[[Any, Any], Any], op_type: str, filter_name: str
) -> None:
    """A blind test: TensorFlow's own function `f` was a run beside the turns, and x an array that it captured."""
    end = _stopped(filter_name, made_of)
    assert end.run.call.what.startswith("turn 3 of test_vectorized_calls.py:")
    prompt = Prompt(end)
    origin = prompt.data("origin")
    assert (origin["op_type"], origin["tensor"].partition("/")[0]) == (op_type, "pfor_0")
    assert "row 1 of 5; fed as x\n" in prompt.show("origin")


def test_a_forward_accumulator_runs_no_function_of_the_program() -> None:
    """A blind test: TensorFlow's own `_jvp_exact_shapes(inputs, outputs, tangents)` was a run beside the turns."""
    end = _stopped("has_inf_or_nan", _forward_mode)
    assert end.run.call.what.startswith("turn 3 of test_vectorized_calls.py:")
    origin = Prompt(end).data("origin")
    assert origin["tensor"].partition("/")[0] == "jvp_0"
    assert origin["op_type"] == "RealDiv"


def test_calls_are_kept_as_long_as_they_hold_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorized_calls, "_MOST", 8)
    end = _stopped("bad_result", _mapped)
    assert Prompt(end).data("origin")["tensor"] == "pfor_0:0"
