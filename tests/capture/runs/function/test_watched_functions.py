"""The answer of the checks inside a function is that of looking at every value of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import instrument
from support.watched_graphs import Both, planted, random_function

pytestmark = pytest.mark.tf

_NAN, _INF = np.float32(np.nan), np.float32(np.inf)
_XY = [tf.TensorSpec([2, 3], tf.float32)] * 2


def _agree_on_random_graphs(seeds: range, question: str = "has_inf_or_nan") -> None:
    hits = passes = 0
    for seed in seeds:
        concrete, variable = random_function(seed)
        both = Both(concrete, question)
        for inputs in planted(seed):
            hit, _ = both.agree(inputs, lambda variable=variable: variable.assign(tf.ones([2, 3])))
            hits += hit
            passes += not hit
    assert hits
    assert passes


def test_random_graphs_give_the_same_answer_as_all_their_values() -> None:
    _agree_on_random_graphs(range(6))


@pytest.mark.parametrize("question", ["has_nan", "has_inf", "bad_result"])
def test_so_do_those_that_are_asked_for_nans_or_infinities_alone(question: str) -> None:
    _agree_on_random_graphs(range(100, 103), question)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("question", ["has_inf_or_nan", "has_nan", "has_inf", "bad_result"])
def test_many_random_graphs(question: str, part: int) -> None:
    _agree_on_random_graphs(range(1000 + 20 * part, 1020 + 20 * part), question)


def _watched(function: Any, *specs: Any, **options: Any) -> Both:
    question = options.pop("question", "has_inf_or_nan")
    admits = options.pop("admits", None)
    return Both(tf.function(function, **options).get_concrete_function(*specs), question, admits)


def _of(*rows: Any) -> Any:
    return tf.constant(rows, tf.float32)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_product_with_a_constant_of_zeros_hides_what_it_is_given(zero: float) -> None:
    """Grappler makes zeros of it, and of what is computed from those."""

    def function(x: Any) -> Any:
        y = tf.maximum(x, 1.0)
        z = y * tf.fill(tf.shape(y), tf.constant(zero))
        return tf.reduce_sum(tf.exp(z) * tf.zeros_like(x) + tf.roll(z, 1, 0) + tf.reverse(z, [0]))

    both = _watched(function, tf.TensorSpec([3], tf.float32))
    assert both.agree([_of(1.0, 2.0, _NAN)])[0]
    assert both.agree([_of(1.0, _INF, 2.0)])[0]
    assert not both.agree([_of(1.0, 2.0, 3.0)])[0]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_an_operand_that_meets_an_empty_one_is_seen(rows: int) -> None:
    def function(x: Any, y: Any) -> Any:
        return (
            tf.nn.relu(x + y),
            tf.matmul(y, tf.transpose(x)) + 1.0,
            tf.nn.relu(tf.matmul(y, x * 2.0, transpose_b=True)),
        )

    unknown = tf.TensorSpec([None, 3], tf.float32)
    both = _watched(function, tf.TensorSpec([1, 3], tf.float32), unknown)
    assert both.agree([_of([1.0, _NAN, 2.0]), tf.ones([rows, 3])])[0]
    assert not both.agree([_of([1.0, -5.0, 2.0]), tf.ones([rows, 3])])[0]


def test_a_variable_is_seen_after_its_update() -> None:
    variable = tf.Variable([3e38, 1.0])

    def function(x: Any) -> Any:
        variable.assign_add(x)
        return x

    both = _watched(function, tf.TensorSpec([2], tf.float32))
    restore = lambda: variable.assign([3e38, 1.0])  # noqa: E731
    hit, found = both.agree([_of(1e38, 1.0)], restore)
    assert hit
    ((told, value),) = found
    assert told.endswith("@0 UpdatedVariable") and "after_update" in told
    assert repr(value) == repr(np.array([np.inf, 2], np.float32))
    assert not both.agree([_of(1.0, 1.0)], restore)[0]


def test_a_variable_updated_in_a_branch_and_a_loop_is_seen() -> None:
    variable = tf.Variable(1.0)

    def function(x: Any, turns: Any) -> Any:
        if x > 0.0:
            variable.assign_add(x * 3e38)
        for _ in tf.range(turns):
            variable.assign(tf.nn.relu(variable * 2.0))
        return variable.read_value() * 0.0 + tf.constant(1.0) if x > 100.0 else x

    both = _watched(function, tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32))
    restore = lambda: variable.assign(1.0)  # noqa: E731
    assert both.agree([tf.constant(2.0), tf.constant(0)], restore)[0]
    assert not both.agree([tf.constant(-2.0), tf.constant(3)], restore)[0]
    assert both.agree([tf.constant(-2.0), tf.constant(130)], restore)[0]


def test_what_happens_in_the_condition_of_a_loop_is_seen() -> None:
    seen: list[float] = []

    def function(x: Any) -> Any:
        def going_on(i: Any, a: Any) -> Any:
            return (i < 3) & (tf.reduce_max(tf.minimum(1.0 / a, 9.0)) > 0.0)

        return tf.while_loop(going_on, lambda i, a: (i + 1, a - 1.0), (tf.constant(0), x))

    both = _watched(function, tf.TensorSpec([1], tf.float32))
    assert both.agree([_of(2.0)])[0]  # 1/0 in the third turn
    assert not both.agree([_of(5.0)])[0]
    assert both.agree([_of(0.0)])[0]
    assert not seen


def test_a_condition_with_side_effects_is_asked_as_often_as_before() -> None:
    counter = tf.Variable(0)

    def function(x: Any) -> Any:
        def going_on(i: Any, a: Any) -> Any:
            counter.assign_add(1)
            return (i < 3) & (tf.reduce_sum(a * 2.0) > -1e9)

        return tf.while_loop(going_on, lambda i, a: (i + 1, a * 2.0), (tf.constant(0), x))[1]

    both = _watched(function, tf.TensorSpec([1], tf.float32))
    for way in (both.checked, both.kept):
        counter.assign(0)
        outcome = way.perform([_of(1.0), counter.handle])
        assert outcome.error is None
        assert outcome.outputs[0].numpy() == 8.0
        assert counter.numpy() == 4


@pytest.mark.parametrize("branch", [0, 1, 2])
def test_only_branches_that_run_count(branch: int) -> None:
    def function(x: Any, at: Any) -> Any:
        return tf.switch_case(at, [lambda: tf.nn.relu(tf.math.log(x)), lambda: tf.nn.relu(-x), lambda: tf.abs(x)])

    both = _watched(function, tf.TensorSpec([1], tf.float32), tf.TensorSpec([], tf.int32))
    assert both.agree([_of(0.0), tf.constant(branch)])[0] is (branch == 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "complex128", "float8_e5m2",
                                   "float8_e4m3fn"])  # fmt: skip
@pytest.mark.parametrize("question", ["has_inf_or_nan", "has_nan", "has_inf"])
def test_every_dtype_is_asked(dtype: str, question: str) -> None:
    kind = tf.dtypes.as_dtype(dtype)

    def function(x: Any) -> Any:
        return tf.reshape(tf.gather(x, [0]), []), tf.identity(x)

    both = _watched(function, tf.TensorSpec([2], kind), question=question)
    for bad in (1.0, np.nan, np.inf):
        values = [complex(1.0, 0.0), complex(1.0, bad)] if kind.is_complex else [1.0, bad]
        both.agree([tf.cast(tf.constant(values), kind)])


def test_what_is_left_out_is_not_asked_and_covers_nothing() -> None:
    def function(x: Any) -> Any:
        y = tf.identity(tf.math.log(x, name="first"), name="copy")
        return tf.nn.relu(y, name="last")

    spec = tf.TensorSpec([2], tf.float32)
    for left_out in ("first", "copy", "first|copy", "x|first|copy|last|Identity"):
        both = _watched(function, spec, admits=lambda node, *_, left_out=left_out: node not in left_out.split("|"))
        assert both.agree([_of(0.0, 1.0)])[0] is (left_out.count("|") == 0)


def test_a_function_compiled_by_xla_is_checked_as_compiled() -> None:
    variable = tf.Variable([1.0, 1.0])

    def function(x: Any) -> Any:
        y = tf.nn.relu(tf.math.log(x))
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.nn.relu(a * 1e20)), (tf.constant(0), y))[1]
        variable.assign_sub(tf.cond(x[0] > 1.0, lambda: y / 2.0, lambda: y * 0.5))
        return tf.minimum(y, 1.0)

    both = _watched(function, tf.TensorSpec([2], tf.float32), jit_compile=True)
    restore = lambda: variable.assign([1.0, 1.0])  # noqa: E731
    assert both.agree([_of(0.0, 1.0)], restore)[0]
    assert both.agree([_of(2.0, 1.0)], restore)[0]
    assert not both.agree([_of(1.0, 1.0)], restore)[0]
    assert not both.checked.notes or "without XLA" not in "".join(both.checked.notes)


def test_outputs_and_variables_are_those_of_the_function_itself() -> None:
    concrete, variable = random_function(7, size=14)
    both = Both(concrete)
    for x, y in planted(7):
        variable.assign(tf.ones([2, 3]))
        expected = [value.numpy() for value in concrete(x, y)]
        updated = variable.numpy()
        variable.assign(tf.ones([2, 3]))
        outcome = both.checked.perform([x, y, *concrete.captured_inputs])
        for value, wanted in zip(outcome.outputs, expected, strict=True):
            np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-6)
        np.testing.assert_allclose(variable.numpy(), updated, rtol=1e-6)


def test_a_capture_without_a_question_gives_what_it_gave() -> None:
    concrete, _ = random_function(3)
    instrumented = instrument(concrete)
    (inputs, *_) = planted(3)
    outcome = instrumented.perform([*inputs, *concrete.captured_inputs])
    assert outcome.found is None
    assert not [shown for shown, _ in outcome.captured.pairs() if shown.op_type == "UpdatedVariable"]


def test_a_function_from_a_saved_model_is_watched_too(tmp_path: Any) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def step(self, x: Any) -> Any:
            y = tf.nn.relu(tf.matmul(x, self.weight) + x)
            if tf.reduce_sum(y) > 0.0:
                y = tf.math.log(y)
            self.weight.assign_sub(tf.ones([2, 2]) * tf.reduce_mean(y))
            return tf.nn.softmax(y)

    tf.saved_model.save(Model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    both = Both(loaded.step.concrete_functions[0])
    restore = lambda: loaded.weight.assign([[1.0, 2.0], [3.0, 4.0]])  # noqa: E731
    answers = [
        both.agree([_of(*rows)], restore)[0]
        for rows in ([[1.0, 2.0]], [[1.0, 2.0], [0.0, 0.0]], [[-1.0, -1.0]], [[1.0, _NAN]])
    ]
    assert answers == [False, True, False, True]
    assert both.agree([tf.zeros([0, 2])], restore)[0]  # the mean of nothing
