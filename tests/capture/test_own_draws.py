"""A stop tells which functions draw other random numbers from there on, if it is no stop of theirs, too."""

from __future__ import annotations

import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def test_a_stop_elsewhere_tells_of_the_functions_whose_copies_drew() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    @tf.function
    def drawn_with_a_seed():
        return tf.random.gamma([2], 0.5, seed=3)

    @tf.function
    def drawn_and_counted_on():
        return tf.random.uniform([2], seed=3)

    @tf.function
    def drawn_without_state():
        return tf.random.stateless_uniform([2], seed=[1, 2])

    @tf.function
    def gone_bad(x):
        return tf.math.log(x)

    front = ScriptedFrontend(RunUntil("bad_result"))
    undo = intercept_all_functions(Debugger(lambda: front))
    try:
        drawn_with_a_seed()
        drawn_and_counted_on()
        drawn_without_state()
        assert not any("random ops" in message for message in front.said)
        gone_bad(tf.constant(-1.0))
    finally:
        undo()
    assert front.path == ["start 1", "end 4"]
    (said,) = [message for message in front.said if "random ops" in message]
    assert said.startswith("drawn_with_a_seed has random ops that count inside their kernels")
    assert said.endswith("they draw other numbers than undebugged.")
