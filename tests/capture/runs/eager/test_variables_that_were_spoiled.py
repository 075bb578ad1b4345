"""Eager code that meets a variable which a function, or an earlier turn, made NaN: that is what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tensorflow as tf
from support.prompt import Prompt, text_of
from support.scripted import ScriptedFrontend

import tfdbg_cli
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@contextmanager
def _watching(filter_name: str = "has_inf_or_nan") -> Iterator[ScriptedFrontend]:
    """A watch of eager code and of functions that goes on behind every hit."""
    front = ScriptedFrontend(*[RunUntil(filter_name)] * 20)
    debugger = Debugger(lambda: front)
    front.debugger = debugger
    debugger.attendant = watch_of(debugger)
    undo = intercept_all_functions(debugger)
    debugger.set_watch(RunUntil(filter_name))
    try:
        yield front
    finally:
        debugger.attendant.end()
        debugger.attendant.attend(False)
        undo()


def _origins(program: Callable[[], None], filter_name: str = "has_inf_or_nan") -> list[str]:
    with _watching(filter_name) as front:
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


@pytest.mark.parametrize("read", [False, True])
def test_what_a_variable_is_assigned_behind_its_first_value_is_looked_at(*, read: bool) -> None:
    """A watch of variables took the second assignment of one that the run had made for its first value."""

    def program() -> None:
        tf.Variable([1.0, float("inf")], name="bounds").assign_add([1.0, 1.0])
        total = tf.Variable([2.0, 1.0], name="total")
        given = tf.constant([3.0, 0.0]) * total if read else tf.constant([3.0, 0.0])
        total.assign(tf.math.log(given))

    (told,) = _origins(program, "bad_result")
    assert "Origin    Log_0:0" in told and "Log of 0" in told


def test_an_infinite_first_value_is_no_update_that_overflows() -> None:
    """Behind a stop the first value is not shown, and it was said that what wrote the variable left it finite."""

    def program() -> None:
        tf.math.log(tf.constant([0.0]))
        tf.Variable([1.0, float("inf")], name="bounds").assign_add([1.0, 1.0])

    first, told = _origins(program)
    assert "Log of 0" in first
    assert "Variable bounds is not finite after this finite update" in told and "overflows" not in told


def test_what_a_variable_was_assigned_is_where_what_is_read_of_it_began(tmp_path: Path) -> None:
    """It was said that the update itself overflows."""
    with tfdbg_cli.record(tmp_path, every=1):
        total = tf.Variable([2.0, 1.0], name="total")
        total.assign(tf.math.log(total - 1.0))
        tf.reduce_sum(total * 2.0)
        total.assign_sub([1.0, 1.0])
        tf.reduce_sum(total * 3.0)
    tfdbg_cli.disable()
    process_debugger.cache_clear()
    told = Prompt(open_path(tmp_path)).show("origin", None)
    assert "Origin    Log_0:0" in told and "Log of 0: Sub_0:0 is 0" in told, told


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
