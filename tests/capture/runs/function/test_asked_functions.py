"""Every built-in filter, asked inside a function, answers as it does when all values of the run are asked."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.training_graphs import RandomTraining
from support.versions import TIMES_ZERO_IS_ZERO
from support.watched_graphs import Both, planted, random_function

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.capture.questions.known import question_of

pytestmark = pytest.mark.tf

OF_TRAINING = ("unchanged_variable", "vanishing_gradient:1e-3", "exploding_gradient:50", "dead_relu:0.5")
QUESTIONS = ("all_zero", "magnitude_above:100", "near_overflow", *OF_TRAINING)
OF_VALUES = ("all_zero", "magnitude_above:3", "near_overflow")
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn")


@lru_cache(maxsize=8)
def _training(seed: int, dtype: str = "float32", *, compiled: bool = False) -> RandomTraining:
    """One for all questions: tracing it takes longer than asking it does."""
    return RandomTraining(seed, dtype, compiled=compiled)


@lru_cache(maxsize=8)
def _random_function(seed: int) -> tuple[Any, Any]:
    return random_function(seed)


def _agree_on_training(question: str, seeds: range, dtype: str = "float32", *, compiled: bool = False) -> set[bool]:
    """The answers that were given."""
    answers = set()
    for seed in seeds:
        training = _training(seed, dtype, compiled=compiled)
        both = Both(training.concrete, question)
        answers |= {both.agree(inputs, training.restore)[0] for inputs in training.inputs()}
    return answers


@pytest.mark.parametrize("question", QUESTIONS)
def test_steps_of_training_give_the_same_answer_as_all_their_values(question: str) -> None:
    assert _agree_on_training(question, range(3)) == {True, False}


@pytest.mark.parametrize(
    ("dtype", "compiled", "questions"),
    # Of those of values, asked in every dtype below, the one that looks at bits. XLA compiles each for seconds: it is
    # asked one of values, one of variables, one of norms; test_many_steps_of_training asks all.
    [
        ("float16", False, ("unchanged_variable", "vanishing_gradient:1e-3", "dead_relu:0.5")),
        ("complex64", False, ("all_zero", "exploding_gradient:50")),
        ("float32", True, ("all_zero", "unchanged_variable", "exploding_gradient:50")),
    ],
)
def test_so_they_do_in_other_types_and_compiled_by_xla(
    dtype: str, compiled: bool, questions: tuple[str, ...]
) -> None:
    answers = [_agree_on_training(question, range(5, 6), dtype, compiled=compiled) for question in questions]
    assert set.union(*answers) == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_many_steps_of_training(question: str, dtype: str) -> None:
    _agree_on_training(question, range(100, 110), dtype)
    _agree_on_training(question, range(110, 113), dtype, compiled=True)


@pytest.mark.parametrize("question", OF_VALUES)
def test_random_graphs_give_the_same_answer_as_all_their_values(question: str) -> None:
    answers = set()
    for seed in (200, 201, 203 if TIMES_ZERO_IS_ZERO else 202):  # 202 multiplies by 0
        concrete, variable = _random_function(seed)
        both = Both(concrete, question)
        assert both.frontier.checked < both.frontier.watched
        for inputs in planted(seed):
            answers.add(both.agree(inputs, lambda variable=variable: variable.assign(tf.ones([2, 3])))[0])
    assert answers == {True, False}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("question", ["all_zero", "magnitude_above:3", "near_overflow", "near_overflow:0.01"])
def test_every_dtype_is_asked_to_the_last_bit(dtype: str, question: str) -> None:
    kind = tf.dtypes.as_dtype(dtype)
    both = _both(lambda x: (tf.reshape(tf.gather(x, [0]), []), tf.identity(x)), [tf.TensorSpec([2], kind)], question)
    half = float(kind.real_dtype.max) / 2
    for number in (0.0, -0.0, 3.0, half, half / 50, float("inf"), float("nan")):
        for value in (number, -number, np.nextafter(number, np.inf), np.nextafter(number, 0)):
            cast = kind.as_numpy_dtype
            with np.errstate(over="ignore", invalid="ignore"):
                array = np.array([0.0, value]).astype(kind.real_dtype.as_numpy_dtype).astype(cast)
            both.agree([tf.constant(array)])
            if kind.is_complex and np.isfinite(array).all():
                both.agree([tf.constant(array * 1j)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_numbers_too_small_for_the_kernels_are_no_zeros(dtype: str) -> None:
    tiny = np.array([0, 1], np.int32 if dtype != "float64" else np.int64).view(
        np.float32 if dtype != "float64" else np.float64
    )
    both = _both(tf.identity, [tf.TensorSpec([2], dtype)], "all_zero")
    assert not both.agree([tf.constant(tiny.astype(dtype))])[0]
    assert both.agree([tf.constant(np.zeros(2, dtype))])[0]


def test_what_is_empty_is_never_all_zero_nor_dead_nor_vanishing() -> None:
    variable = tf.Variable(tf.ones([3, 2]))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(tf.matmul(x, variable)))
        return tape.gradient(loss, variable)

    for question in ("all_zero", "dead_relu"):
        both = _both(lambda x: tf.nn.relu(x), [tf.TensorSpec([None, 3], tf.float32)], question)
        assert not both.agree([tf.zeros([0, 3])])[0]
        assert both.agree([tf.zeros([1, 3])])[0]
    both = _both(step, [tf.TensorSpec([None, 3], tf.float32)], "vanishing_gradient")
    assert both.agree([tf.zeros([0, 3])])[0]  # the gradient of the variable is there, and zero


def test_a_norm_near_its_limit_is_left_to_the_filter() -> None:
    variable = tf.Variable([3.0, 4.0])

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * x)
        variable.assign_sub(tape.gradient(loss, variable))
        return loss

    both = _both(step, [tf.TensorSpec([2], tf.float32)], "exploding_gradient:5")
    inputs = [tf.constant([3.0, 4.0]), *both.captured]
    outcome = both.checked.perform(inputs)
    assert outcome.found
    assert not outcome.sure
    outcome = both.checked.perform([tf.constant([3.0, 4.1]), *both.captured])
    assert outcome.found
    assert outcome.sure
    assert both.checked.perform([tf.constant([3.0, 3.9]), *both.captured]).found is False


def test_a_variable_that_is_read_after_its_update_only_is_compared_with_what_it_was() -> None:
    variable = tf.Variable([1.0, float("nan")])

    def step(x: Any) -> Any:
        variable.assign_add(x)
        return variable.read_value() + 1.0

    both = _both(step, [tf.TensorSpec([2], tf.float32)], "unchanged_variable")
    restore = lambda: variable.assign([1.0, float("nan")])  # noqa: E731
    assert both.agree([tf.constant([0.0, 1.0])], restore)[0]  # NaN that stays
    assert not both.agree([tf.constant([1.0, 0.0])], restore)[0]


@pytest.mark.parametrize("dtype", ["int32", "bool", "complex128", "float16"])
def test_variables_of_other_types_are_compared(dtype: str) -> None:
    variable = tf.Variable(tf.cast([0, 1], dtype))
    spec = tf.TensorSpec([2], dtype)
    both = _both(lambda x: variable.assign(x), [spec], "unchanged_variable")
    restore = lambda: variable.assign(tf.cast([0, 1], dtype))  # noqa: E731
    assert both.agree([tf.cast([0, 1], dtype)], restore)[0]
    assert not both.agree([tf.cast([1, 1], dtype)], restore)[0]


@pytest.mark.parametrize(
    ("text", "inside"),
    [("magnitude_above:1e4", True), ("magnitude_above:-1", False), ("near_overflow:0", False),
     ("vanishing_gradient:0", False), ("exploding_gradient:inf", False), ("dead_relu:0", True),
     ("all_zero", True), ("unchanged_variable", True)],
)  # fmt: skip
def test_a_number_that_everything_passes_is_asked_of_values(text: str, inside: bool) -> None:
    asked = filter_named(BUILT_IN_FILTERS, text)
    assert (question_of(asked) is not None) is inside
    if inside:
        assert question_of(asked) == question_of(filter_named(BUILT_IN_FILTERS, text))


@pytest.mark.parametrize("question", ["all_zero", "magnitude_above:1e6", "exploding_gradient:1e9"])
def test_a_step_gives_the_bits_of_an_unwatched_one(question: str) -> None:
    for seed in range(2):
        training = _training(seed)
        both = Both(training.concrete, question)
        for inputs in training.inputs():
            training.restore()
            plain = [training.concrete(*inputs).numpy().tobytes()] + [v.numpy().tobytes() for v in training.variables]
            training.restore()
            (loss,) = both.checked.perform([*inputs, *both.captured]).outputs[:1]
            assert [loss.numpy().tobytes()] + [v.numpy().tobytes() for v in training.variables] == plain


def _both(function: Any, specs: list[Any], question: str) -> Both:
    return Both(tf.function(function, autograph=False).get_concrete_function(*specs), question)
