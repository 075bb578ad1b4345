"""Eager code that meets a variable which a function, or an earlier turn, made NaN: that is what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import tensorflow as tf
from support.prompt import text_of
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@contextmanager
def _watching() -> Iterator[ScriptedFrontend]:
    """A watch of eager code and of functions that goes on behind every hit."""
    front = ScriptedFrontend(*[RunUntil("has_inf_or_nan")] * 20)
    debugger = Debugger(lambda: front)
    front.debugger = debugger
    debugger.attendant = watch_of(debugger)
    undo = intercept_all_functions(debugger)
    debugger.set_watch(RunUntil("has_inf_or_nan"))
    try:
        yield front
    finally:
        debugger.attendant.end()
        debugger.attendant.attend(False)
        undo()


def _origins(program: Callable[[], None]) -> list[str]:
    with _watching() as front:
        program()
        return [text_of("origin", end, width=None) for end in front.ends]


def test_a_finite_first_value_is_not_blamed_for_what_a_function_wrote() -> None:
    def program() -> None:
        v = tf.Variable(tf.random.stateless_normal([2], [1, 2]) * 0.1, name="v")

        @tf.function
        def step(x: tf.Tensor) -> None:
            v.assign_sub(tf.math.log(x))

        step(tf.constant([-1.0, 1.0]))
        v.numpy()

    told = _origins(program)
    assert "Origin    ReadVariableOp" in told[-1] and "was already not finite when it was read" in told[-1]
    assert not any("0 / 0" in one for one in told)


def test_adding_a_finite_number_to_nan_is_no_division_of_0_by_0() -> None:
    def program() -> None:
        total = tf.Variable(0.0, name="total")
        for x in (4.0, -4.0, 4.0, 9.0):
            total.assign_add(tf.sqrt(tf.constant(x)))

    first, *later = _origins(program)
    assert "Square root of a negative number" in first
    assert later and all("Variable total was already not finite before this finite update" in one for one in later)


def test_what_an_update_makes_of_finite_numbers_is_told_as_ever() -> None:
    def program() -> None:
        total = tf.Variable(3e38, name="total")
        for x in (1e38, 2e38):
            total.assign_add(tf.constant(x) * 1.0)

    (told, *_) = _origins(program)
    assert "already not finite" not in told


def test_what_a_step_of_keras_gave_is_not_the_input_pipeline() -> None:
    def program() -> None:
        @tf.function
        def step(x: tf.Tensor) -> tf.experimental.Optional:
            return tf.experimental.Optional.from_value(tf.reduce_sum(tf.math.log(x)))

        step(tf.constant([-1.0])).get_value()

    told = _origins(program)
    assert any("Log of a negative number" in one for one in told)
    assert not any("input pipeline" in one for one in told)


def test_what_a_function_gave_before_is_not_told_again_of_an_op_that_has_nothing_to_do_with_it() -> None:
    def program() -> None:
        step = tf.function(lambda x: tf.math.log(x))
        given = step(tf.constant([1.0, -1.0]))
        tf.sqrt(tf.constant([-4.0]))
        tf.exp(given)

    told = _origins(program)
    assert "Log of a negative number" in told[0]
    assert "Square root of a negative number" in told[1]
