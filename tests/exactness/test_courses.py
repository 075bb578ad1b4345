"""Courses of a program: one that fails ends alike, wherever in the tests it is started."""

from __future__ import annotations

from typing import Any

import pytest

from exactness.comparison import difference
from exactness.courses import NOTHING, Plant, Program, course_of, stepwise
from exactness.programs.planting import numbers

pytestmark = pytest.mark.tf


def _failing(plant: Plant) -> Program:
    import tensorflow as tf

    @tf.function
    def step(x: Any, at: Any) -> Any:
        return tf.reduce_sum(tf.gather(x, at))

    return Program(stepwise(lambda number: step(numbers(plant, number, 4, 6), tf.constant(2 + number))))


def test_a_program_that_fails_repeats_itself() -> None:
    """TensorFlow's message names the lines of all calls around the op, those of the tests among them."""
    first = course_of(_failing, 3)
    second = course_of(_failing, 3, NOTHING)
    assert first.error is not None
    assert ", line " in first.error[1]
    assert not difference(first, second)
