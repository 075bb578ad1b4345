"""What `origin` says of small programs that TensorFlow runs: each way to a NaN, and beside it one that is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.keras_steps import part_name
from support.made_run import made_run, op
from support.prompt import json_of

from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.tensors import gone

pytestmark = pytest.mark.tf


@pytest.mark.parametrize(
    ("op", "gradient", "cause", "suggestion"),
    [
        ("math.reciprocal", False, "1 / 1.19e-07 exceeds 6.55e+04, the largest float16", "tf.maximum(x, 1e-4)"),
        ("math.log", True, "1 / 1.19e-07 exceeds 6.55e+04, the largest float16", "tf.maximum(x, 1e-4)"),
        ("math.rsqrt", True, "its third power exceeds 6.55e+04", "x + 1e-2"),
        ("math.reciprocal", True, "its square exceeds 6.55e+04", "x + 1e-2"),
    ],
)
def test_what_float16_cannot_invert(tf2, origin, op, gradient, cause, suggestion) -> None:
    call = tf2
    for part in op.split("."):
        call = getattr(call, part)

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        return tape.gradient(y, x) if gradient else y

    bad = 0.003 if gradient and op == "math.reciprocal" else 1.19e-7
    found = origin(step, tf2.constant([1, bad, 2], tf2.float16))
    assert cause in found["cause"]
    assert suggestion in found["suggestion"]
    assert not origin(step, tf2.constant([1, 0.05, 2], tf2.float16))
    least = np.float16(float(suggestion.replace(")", " ").replace(",", " ").split()[-1]))
    assert np.isfinite(step(tf2.constant([1, max(bad, least), 2], tf2.float16)).numpy()).all(), "what was suggested"


def test_labels_too_long_for_their_steps(tf2, origin) -> None:
    @tf2.function
    def loss(logits: Any, labels: Any) -> Any:
        steps = tf2.constant([3, 3])
        return tf2.compat.v1.nn.ctc_loss(labels, logits, steps, time_major=False)

    def labels(rows: list[list[int]]) -> Any:
        return tf2.sparse.from_dense(tf2.constant(rows))

    logits = tf2.zeros([2, 3, 6])
    found = origin(loss, logits, labels([[1, 2, 0], [1, 1, 1]]))
    assert found["cause"].startswith("Labels too long for the steps: at 1 element those in labels_1:0")
    assert found["batch_rows"] == [1]
    assert not origin(loss, logits, labels([[1, 2, 0], [1, 2, 1]]))


def test_a_row_without_an_open_place_in_a_mask_that_is_a_logarithm(tf2, origin) -> None:
    w = tf2.Variable(np.eye(4, dtype=np.float32))

    @tf2.function
    def step(x: Any, mask: Any) -> Any:
        with tf2.GradientTape() as tape:
            scores = tf2.matmul(x @ w, x, transpose_b=True)
            adder = tf2.math.log(tf2.cast(mask, tf2.float32))[:, None, :]
            loss = tf2.reduce_mean(tf2.matmul(tf2.nn.softmax(scores + adder), x) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    x, mask = tf2.reshape(tf2.range(48.0), [4, 3, 4]) / 48.0, np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 1]])
    assert origin(step, x, tf2.constant(mask))["intended"] == "a mask of -inf made by log(0)"
    mask[2] = 0
    found = origin(step, x, tf2.constant(mask))
    assert found["cause"].startswith("Softmax of a row that is nothing but -inf in add")
    assert found["batch_rows"] == [2]


def test_a_mask_in_a_branch_whose_values_its_gradient_is_given(tf2, origin) -> None:
    """A blind test: what a branch hands on to its gradient was lost sight of, and rows told as bad that were not."""
    w = tf2.Variable(tf2.ones([4, 3]))

    @tf2.function
    def step(mask: Any) -> Any:
        with tf2.GradientTape() as tape:
            masked = lambda: tf2.nn.softmax((w + tf2.math.log(mask)) * 0.5)  # noqa: E731
            shares = tf2.cond(tf2.reduce_sum(mask) > 3.0, masked, lambda: tf2.nn.softmax(w))
        return tf2.reduce_sum(shares, 1), tape.gradient(shares, w)

    found = origin(step, tf2.constant([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]))
    assert found["cause"].startswith("Softmax of a row that is nothing but -inf")
    assert found["batch_rows"] == [2]


def test_a_log_sum_exp_is_no_logarithm_of_a_mask_where_its_sums_happen_to_be_0_and_1(tf2, origin) -> None:
    """A blind test: the advice was to keep its argument away from 0, which nobody can do."""
    w = tf2.Variable(tf2.zeros([3, 3]))

    @tf2.function
    def forward(score: Any) -> Any:
        with tf2.GradientTape() as tape:
            start = tf2.concat([tf2.zeros([4, 1]), tf2.fill([4, 2], -np.inf)], 1)
            moves = np.array([[-np.inf, 0.0, 0.0]] * 3, np.float32)  # nothing leads to state 0
            after = tf2.reduce_logsumexp(start[:, :, None] + w + moves, 1) + score
            loss = tf2.reduce_mean(tf2.reduce_logsumexp(after, 1))
        return loss, tape.gradient(loss, w)

    found = origin(forward, tf2.ones([4, 3]))
    assert found["cause"].startswith("Log-sum-exp of a row that is nothing but -inf")
    assert "-1e9" in found["suggestion"]


def line_of(text: str) -> int:
    """The line of this file that ends with the comment `text`."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


@pytest.fixture(params=["function", "eager"])
def compiled(request: pytest.FixtureRequest, tf2: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """`tf.function`, with functions that run as graphs, and with such that run eagerly."""
    tf2.config.run_functions_eagerly(request.param == "eager")
    yield request.param, tf2.function
    tf2.config.run_functions_eagerly(False)


@pytest.mark.parametrize("until", ["has_inf_or_nan", "has_nan"])
def test_zero_times_infinity_in_a_gradient_names_what_made_the_infinity(tf2, origin, compiled, until) -> None:
    w = tf2.Variable([1.0, 2.0, 3.0])

    how, function = compiled

    @function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            y = w * x
            root = tf2.pow(y, 0.5)  # the root
            loss = tf2.reduce_sum(tf2.where(y > 0, root, 0.0))
        return tape.gradient(loss, w)

    found = origin(step, tf2.constant([1.0, 0.0, 2.0]), until=until)
    place = f"test_named_causes.py:{line_of('the root')}"
    assert f"{place} in step: Pow" in found["screen"] and found["forward"].startswith("Pow")
    if how == "function":
        assert found["line"] == line_of("the root") and found["file"] == __file__
    assert "mask by multiplication" not in found["suggestion"]
    assert "double where" in found["suggestion"]
    if until == "has_nan":
        assert found["cause"].startswith("0 * inf in a gradient: ")
        assert f"({place}) made the infinity: gradient of a power" in found["cause"]
    assert not origin(step, tf2.constant([1.0, 1.0, 2.0]), until=until)


def test_a_mask_by_multiplication_is_still_called_one(tf2, origin) -> None:
    @tf2.function
    def masked(scores: Any, mask: Any) -> Any:
        return scores * mask

    found = origin(masked, tf2.constant([1.0, float("inf")]), tf2.constant([1.0, 0.0]), until="has_nan")
    assert "A mask by multiplication" in found["suggestion"]


def test_in_fit_the_line_of_a_gradient_is_that_of_its_forward_op(tf2, origin) -> None:
    class Root(tf2.keras.layers.Layer):  # type: ignore[name-defined,misc]
        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=(4,), initializer="ones")

        def call(self, x: Any) -> Any:
            return tf2.sqrt(x * self.scale)  # the forward op

    model = tf2.keras.Sequential([tf2.keras.layers.Input((4,)), Root(), tf2.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((8, 4), np.float32)
    x[3, 2] = 0
    found = origin(lambda: model.fit(x, np.ones((8, 1)), verbose=0, shuffle=False))
    assert found["op_type"] == "SqrtGrad"
    assert found["line"] == line_of("the forward op") and found["file"] == __file__
    assert found["forward"].endswith("/Sqrt")
    assert "whose gradient this is" in found["screen"] and "model.fit(" not in found["screen"]


def fit(tf: Any, *, targets_first: bool = False, **spoiled: Any) -> Callable[[], Any]:
    """A call of fit with inputs, targets and sample weights, of which the one that is named holds NaN in one row."""
    given = {
        "x": np.ones((8, 4), np.float32),
        "y": np.ones((8, 2), np.float32),
        "sample_weight": np.ones(8, np.float32),
    }
    for name, value in spoiled.items():
        given[name][3] = value

    def loss(y_true: Any, y_pred: Any) -> Any:
        first, second = (y_true, y_pred) if targets_first else (y_pred, y_true)
        return tf.reduce_mean(-tf.math.log(first) * second, axis=-1)

    model = tf.keras.Sequential(
        [tf.keras.layers.Input((4,)), tf.keras.layers.Dropout(0.1), tf.keras.layers.Dense(2, activation="softplus")]
    )
    model.compile("sgd", loss)
    return lambda: model.fit(**given, verbose=0, shuffle=False, batch_size=8)


@pytest.mark.parametrize(
    ("name", "role"),
    [("x", "the inputs (x)"), ("y", "the targets (y)"), ("sample_weight", "the sample weights")],
)
def test_a_part_of_the_batch_is_called_what_it_is(tf2, origin, name, role) -> None:
    assert origin(fit(tf2, **{name: np.nan}))["cause"] == f"Already in {role} of the arrays that fit was given."


def test_an_input_beside_the_embedding_of_another_is_no_target(tf2, origin) -> None:
    layers = tf2.keras.layers
    price, town = layers.Input((6,)), layers.Input((), dtype="int32")
    joined = layers.Concatenate()([price, layers.Embedding(12, 4)(town)])
    model = tf2.keras.Model([price, town], layers.Dense(1)(layers.Dense(8, activation="relu")(joined)))
    model.compile("sgd", "mse")
    prices, towns = np.ones((8, 6), np.float32), np.arange(8, dtype=np.int32)
    prices[3] = np.nan
    found = origin(lambda: model.fit([prices, towns], np.ones((8, 1)), verbose=0, shuffle=False, batch_size=8))
    assert found["cause"] == "Already in the inputs (x) of the arrays that fit was given."


def test_a_logarithm_of_the_targets_asks_whether_arguments_are_swapped(tf2, origin) -> None:
    found = origin(fit(tf2, targets_first=True, y=0))
    assert found["cause"].startswith(f"Log of 0: {part_name(1)} of the targets (y) is 0 at 2 elements")
    assert "arguments of the loss swapped" in found["suggestion"]
    assert not origin(fit(tf2, y=0))


def test_a_batch_in_one_argument(tf2, origin) -> None:
    weights = tf2.Variable(tf2.ones([4, 2]))

    @tf2.function
    def step(batch: Any) -> Any:
        x, y = batch
        return tf2.reduce_mean(tf2.square(tf2.tanh(x * 2.0) @ weights - tf2.cast(y, tf2.float32)))

    x, y = np.ones((8, 4), np.float32), np.ones((8, 2))
    y[2] = np.nan
    assert origin(step, (tf2.constant(x), tf2.constant(y)))["cause"] == "Already in the targets (y), batch_1:0."


def test_data_that_meets_no_parameter_has_no_role(tf2, origin) -> None:
    @tf2.function
    def apart(data: Any) -> Any:
        first, second = data
        return tf2.reduce_mean(tf2.math.log(first) - second)

    found = origin(apart, (tf2.constant([0.0, 1.0]), tf2.constant([1.0, 1.0])))
    assert found["cause"] == "Log of 0: data:0 is 0 at 1 element."


def test_a_column_of_the_data_is_named(tf2, origin) -> None:
    model = tf2.keras.Sequential([tf2.keras.layers.Input((4,)), tf2.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((16, 4), np.float32)
    x[2:14, 1] = np.nan
    found = origin(lambda: model.fit(x, np.ones((16, 1)), verbose=0, batch_size=16))
    whose = "the inputs (x) of the arrays that fit was given"
    assert found["cause"] == f"Already in {whose}, all in column 1 of 4 (12 of 16 rows)."
    assert found["suggestion"].startswith("Fill column 1")


def norm_of_2_22(tf: Any, x: Any) -> Any:
    """tf.norm as TensorFlow makes it from 2.22 on, so that it has a slope at 0."""
    squares = tf.reduce_sum(x * tf.math.conj(x), 1, keepdims=True)
    root = tf.sqrt(tf.maximum(squares, np.finfo(np.float32).tiny))
    return tf.compat.v1.where(tf.equal(squares, 0), tf.zeros_like(squares), root)


@pytest.mark.parametrize("how", ["the installed", "2.22"])
def test_a_division_by_a_norm_is_told_from_any_other(tf2, origin, how) -> None:
    @tf2.function
    def unit(x: Any) -> Any:
        return x / (tf2.norm(x, axis=1, keepdims=True) if how == "the installed" else norm_of_2_22(tf2, x))

    found = origin(unit, tf2.constant([[3.0, 4.0], [0.0, 0.0]]))
    assert found["cause"].startswith("Division by a norm of 0: ")
    assert "tf.math.l2_normalize" in found["suggestion"]
    assert not origin(unit, tf2.constant([[3.0, 4.0], [0.0, 1.0]]))


def variance_of_2_22(tf: Any, x: Any) -> Any:
    """The variance that tf.nn.moments gives from TensorFlow 2.22 on."""
    apart = x - tf.stop_gradient(tf.reduce_mean(x, [0], keepdims=True))
    moments = tf.reduce_mean(tf.square(apart), [0]) - tf.square(tf.reduce_mean(apart, [0]))
    return tf.maximum(moments, 0.0)


@pytest.mark.parametrize("how", ["the installed", "2.22"])
def test_a_variance_is_told_from_any_other_number_under_a_root(tf2, origin, how) -> None:
    @tf2.function
    def scale(x: Any) -> Any:
        return tf2.math.rsqrt(tf2.nn.moments(x, [0])[1] if how == "the installed" else variance_of_2_22(tf2, x))

    found = origin(scale, tf2.constant([[3.0, 4.0], [3.0, 1.0]]))
    assert "a variance, is 0 at 1 element" in found["cause"]
    assert not origin(scale, tf2.constant([[3.0, 4.0], [2.0, 1.0]]))


EPS = 1e-8  # lost beside 1


@pytest.mark.parametrize(
    ("probability", "told"),
    [
        (lambda tf, p: 1e-8 + 1 - p, "1e-8 + 1 is 1 in float32"),
        (lambda tf, p: EPS + 1.0 - p, "EPS + 1.0 is 1 in float32"),
        (lambda tf, p: 1 - tf.clip_by_value(p, 1e-8, 1 - 1e-8), "1 - 1e-8 is 1 in float32"),
        (lambda tf, p: 1 - (p + 1e-8), "1 + 1e-08 is 1 in float32"),
        (lambda tf, p: 1 - p + 1e-8, "TensorFlow's optimizer adds up constants first, and 1 + 1e-08 is 1 in float32"),
        (lambda tf, p: 2.0 * 1e-8 + 1 - p, ""),  # no sum of two literals: what is lost is not named
        (lambda tf, p: -(p - 1 + 1e-9 * 0), ""),  # from left to right: 1 and the rest are never added
        (lambda tf, p: 1 - p, ""),
    ],
)
def test_an_epsilon_that_rounding_lost_is_named(tf2, origin, probability, told) -> None:
    @tf2.function
    def loss(logits: Any) -> Any:
        return -tf2.reduce_mean(tf2.math.log(probability(tf2, tf2.sigmoid(logits))))

    found = origin(loss, tf2.constant([1.0, 30.0, 100.0]))
    assert ("is lost: " in found["cause"]) is bool(told)
    if told:
        assert f"the epsilon 1e-08 is lost: {told} (test_named_causes.py:" in found["cause"]
        assert "tf.clip_by_value(p, 1e-7, 1 - 1e-7)" in found["suggestion"]


@pytest.mark.parametrize(
    ("scaled", "cause", "suggestion", "lost"),
    [
        (
            lambda tf, x: x * tf.math.rsqrt(tf.reduce_mean(x * x, 1, keepdims=True) + 1e-8),
            "1/sqrt of 0",
            "x + 1e-2",
            True,
        ),
        (lambda tf, x: x / (tf.reduce_sum(x, 1, keepdims=True) + EPS), "0 / 0", "such as 1e-2", True),
        (lambda tf, x: over_sum(tf, x), "0 / 0", "such as 1e-2", True),
        (lambda tf, x: tf.math.log(tf.maximum(x, EPS)), "Log of 0", "tf.maximum(x, 1e-4)", True),
        (lambda tf, x: tf.math.log(x + 1e-4 * 0), "Log of 0", "tf.maximum(x, 1e-4)", False),  # 1e-4 would do
    ],
)
def test_an_epsilon_that_float16_does_not_hold_is_named(
    tf2, origin, compiled, scaled, cause, suggestion, lost
) -> None:
    _, function = compiled
    step = function(lambda x: scaled(tf2, x))
    found = origin(step, tf2.constant([[1, 2], [0, 0]], tf2.float16))
    assert found["cause"].startswith(cause) and suggestion in found["suggestion"]
    assert ("; the epsilon 1e-08 is lost: it is 0 in float16 (test_named_causes.py:" in found["cause"]) is lost
    assert not origin(step, tf2.constant([[1, 2], [1, 1]], tf2.float16))


def test_a_product_of_many_factors_that_rounds_to_0(tf2, origin) -> None:
    @tf2.function
    def likelihood(p: Any) -> Any:
        return tf2.math.log(tf2.reduce_prod(p, axis=1))

    found = origin(likelihood, tf2.fill([2, 40], 0.01))
    assert "together its factors are too small for float32" in found["cause"]
    assert "tf.reduce_sum(tf.math.log(x), axis)" in found["suggestion"]
    assert not origin(likelihood, tf2.fill([2, 4], 0.01))
    assert np.isfinite(tf2.reduce_sum(tf2.math.log(tf2.fill([2, 40], 0.01)), 1)).all(), "what was suggested"


def over_sum(tf: Any, x: Any, smooth: float = 1e-8) -> Any:
    return x / (tf.reduce_sum(x, 1, keepdims=True) + smooth)


FAR = -1e9  # -inf in float16


@pytest.mark.parametrize("until", ["has_inf_or_nan", "has_nan"])
@pytest.mark.parametrize("written", ["a literal", "a name"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_mask_that_the_dtype_makes_infinite_is_told_to_be_so(tf2, origin, compiled, written, dtype, until) -> None:
    """Op by op too, where the op is given the number that TensorFlow made of it."""
    _, function = compiled

    @function
    def masked(kept: Any) -> Any:
        if written == "a name":
            return tf2.nn.softmax((1 - kept) * FAR)
        return tf2.nn.softmax((1 - kept) * -1e9)

    found = origin(masked, tf2.constant([1, 0, 1], dtype), until=until)
    assert bool(found) is (dtype == "float16")
    if found:
        assert "; -1e+09 is -inf in float16 (test_named_causes.py:" in found["cause"]
        assert "mask with -1e4" in found["suggestion"] or until == "has_nan"


def test_a_constant_that_is_infinite_says_why(tf2, origin) -> None:
    with np.errstate(divide="ignore"):
        weights = np.array([3.0, 1.0], np.float32) / np.array([1.0, 0.0], np.float32)
    step = tf2.function(lambda x: tf2.reduce_sum(x * weights))
    found = origin(step, tf2.constant([1.0, 0.0]))
    assert found["cause"] == "The constant itself holds it: Python gave it to the graph so."
    assert "a count that is 0" in found["suggestion"]
    half = tf2.function(lambda x: tf2.reduce_sum(x + tf2.constant(1e5, tf2.float16)))
    found = origin(half, tf2.constant([1, 0], tf2.float16))
    assert found["cause"].startswith("The constant itself is infinite: 100000 is inf in float16 (")
    assert "such as -1e4 for a mask" in found["suggestion"]
    meant = tf2.function(lambda x: tf2.reduce_sum(x + float("inf")))
    found = origin(meant, tf2.constant([1.0, 0.0]))
    assert "the program wrote it into the graph" in found["cause"]
    assert "use 1e9 instead of inf, or" in found["suggestion"], "-1e9 in place of inf opens what is masked"


@pytest.mark.parametrize("unlikely", [True, False])
def test_shares_are_a_softmax_where_they_are_shares_of_exponentials(tf2, origin, unlikely) -> None:
    @tf2.function
    def logarithms(x: Any) -> Any:
        parts = tf2.exp(x) if unlikely else tf2.nn.relu(x)
        return tf2.math.log(parts / tf2.reduce_sum(parts))

    found = origin(logarithms, tf2.constant([-200.0, 1.0, 2.0]))
    assert ("a softmax" in found["cause"]) is unlikely
    assert ("tf.nn.log_softmax" in found["suggestion"]) is unlikely
    assert not origin(logarithms, tf2.constant([1.0, 2.0]))


def test_what_a_loop_carries_is_told_to_grow(tf2, origin) -> None:
    weights = tf2.constant([[3.0, 3.0], [3.0, 3.0]])

    @tf2.function
    def recurrent(x: Any, turns: Any) -> Any:
        for _ in tf2.range(turns):
            x = tf2.nn.relu(x @ weights)
        return x

    found = origin(recurrent, tf2.ones([1, 2]), tf2.constant(60))
    assert "is what a loop carries from turn to turn" in found["cause"]
    assert "orthogonal" in found["suggestion"]
    assert not origin(recurrent, tf2.ones([1, 2]), tf2.constant(6))


@pytest.mark.parametrize("power", [2, 3])
def test_a_norm_written_with_a_power_is_one(tf2, origin, power) -> None:
    """The gradient of a root is explained by what is under it, `x ** 2` as `tf.square(x)`."""
    x = tf2.Variable([[3.0, 4.0], [0.0, 0.0]])

    @tf2.function
    def slope() -> Any:
        with tf2.GradientTape() as tape:
            length = tf2.sqrt(tf2.reduce_sum(x**power, axis=1))
        return tape.gradient(length, x)

    assert ("of a norm" in origin(slope)["cause"]) is (power == 2)


def test_what_is_suggested_for_a_lost_epsilon_helps(tf2, origin) -> None:
    @tf2.function
    def loss(logits: Any) -> Any:
        return -tf2.reduce_mean(tf2.math.log(1 - tf2.clip_by_value(tf2.sigmoid(logits), 1e-7, 1 - 1e-7)))

    assert not origin(loss, tf2.constant([1.0, 30.0, 100.0]))


def test_a_constant_is_not_told_to_be_scaled_down(tf2, origin) -> None:
    @tf2.function
    def scaled(x: Any, by: Any) -> Any:
        return tf2.reduce_sum(x * by * 1e30)

    found = origin(scaled, tf2.constant([1.0, 30.0]), tf2.constant(1e10))
    assert "a constant of 1e+30" in found["cause"]
    assert found["suggestion"].startswith("Take a smaller constant")
    assert "mul/y" not in found["suggestion"] and "mul_1/y" not in found["suggestion"]
    assert not origin(scaled, tf2.constant([1.0, 30.0]), tf2.constant(1.0))


def test_the_fix_for_a_square_at_zero_keeps_its_derivatives(tf2, origin) -> None:
    x = tf2.Variable([0.0, 1.0])

    def third(square: Callable[[Any], Any]) -> Callable[[], Any]:
        @tf2.function
        def differentiate() -> Any:
            with tf2.GradientTape() as outer, tf2.GradientTape() as middle:
                with tf2.GradientTape() as inner:
                    y = tf2.reduce_sum(square(x))
                slope = inner.gradient(y, x)
            with outer:
                bend = tf2.reduce_sum(middle.gradient(slope, x) * x)
            return outer.gradient(bend, x)

        return differentiate

    found = origin(third(lambda x: x**2))
    assert found["cause"].startswith("Gradient of the gradients of a whole power at 0")
    assert "x * x" in found["suggestion"] and "Keep the base away" not in found["suggestion"]
    assert not origin(third(lambda x: x * x))


@pytest.mark.parametrize("first", ["data", "mask"])
def test_masked_data_that_a_gradient_multiplies_is_named(tf2, origin, first) -> None:
    w = tf2.Variable([0.5, 2.0])

    def summed(data: Any, mask: Any) -> Any:
        total = tf2.zeros([2])
        for i in tf2.range(3):
            total += tf2.where(tf2.math.is_finite(mask[i]), w * data[i], 0.0)
        return tf2.reduce_sum(total)

    @tf2.function
    def step(one: Any, other: Any) -> Any:
        data, mask = (one, other) if first == "data" else (other, one)
        with tf2.GradientTape() as tape:
            loss = summed(data, mask)
        return loss, tape.gradient(loss, w)

    data = tf2.constant([[1.0, 1.0], [1.0, np.nan], [2.0, 2.0]])
    mask = tf2.where(tf2.math.is_finite(data), 1.0, data)
    found = origin(step, *((data, mask) if first == "data" else (mask, data)))
    assert found["tensor"] == ("one:0" if first == "data" else "other:0")
    assert found["batch_rows"] == [1]
    assert "a tf.where, keeps it from the result, but not from the gradient" in found["cause"]
    assert not origin(step, tf2.ones([3, 2]), tf2.ones([3, 2]))


def test_an_op_whose_input_is_bad_is_not_said_to_have_finite_ones() -> None:
    """What an op took off a stack is not known here: nobody can say that it was finite."""
    popped = op("pop", "TensorListPopBack", "list", value=[np.nan])
    run = made_run(op("list", "LoopVariable", value=gone("This is a handle.")), popped)
    found = json_of("origin", run)
    assert "finite inputs" not in found["cause"]


def test_a_choice_on_the_way_of_what_reaches_the_loss_all_the_same_is_not_blamed(tf2, origin) -> None:
    w = tf2.Variable([np.nan, np.nan])

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            logits = tf2.reduce_sum(x * w, axis=1)
            loss = tf2.reduce_mean(tf2.nn.sigmoid_cross_entropy_with_logits(tf2.ones([2]), logits))
        return loss, tape.gradient(loss, w)

    found = origin(step, tf2.ones([2, 2]))
    assert "an earlier run or its initializer made it so." in found["cause"]
    assert "tf.where" not in found["cause"]


def _moved(tf2: Any, kind: str) -> Callable[..., Any]:
    """`up * m * e * 1000`, which TensorFlow computes as `up * m * (e * 1000)`: 0 becomes 0 * inf."""

    def product(up: Any, e: Any, m: Any) -> Any:
        return up * m * e * 1000.0

    def gradient(up: Any, e: Any, m: Any) -> Any:
        x = tf2.math.log(e) / 1000.0
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.exp(x * 1000.0)
        return tape.gradient(y, x, up)

    def looped(up: Any, e: Any, m: Any) -> Any:
        x = up
        for _ in tf2.range(2):
            x = product(up, e, m)
        return x

    def chosen(up: Any, e: Any, m: Any) -> Any:
        return tf2.cond(tf2.reduce_sum(up) > 0, lambda: product(up, e, m), lambda: up)

    return tf2.function({"given back": product, "gradient": gradient, "loop": looped, "branch": chosen}[kind])


@pytest.mark.parametrize("until", ["has_inf_or_nan", "bad_result"])
@pytest.mark.parametrize("kind", ["given back", "gradient", "loop", "branch"])
def test_a_product_that_the_optimizer_computes_in_another_order(tf2, origin, kind, until) -> None:
    """The program is given NaN, which nothing gives in the order in which it is written."""
    step = _moved(tf2, kind)
    given = tf2.constant([0.0, 1.0]), tf2.constant([2e36, 2.0]), tf2.constant([1.0, 1.0])
    if not np.isnan(step(*given)).any():
        pytest.skip("this TensorFlow keeps the order of the program")
    found = origin(step, *given, until=until)
    assert found["op_type"] == "Mul"
    assert "computed the product in another order than the program" in found["cause"], found["cause"]
    assert "* 1000 exceeds 3.4e+38, the largest float32" in found["cause"]
    assert "set_experimental_options" in found["suggestion"]


def test_what_is_shown_of_a_result_is_what_the_program_was_given(tf2, watched) -> None:
    step = _moved(tf2, "given back")
    given = tf2.constant([0.0, 1.0]), tf2.constant([2e36, 2.0]), tf2.constant([1.0, 1.0])
    with watched(DebugRun()) as front:
        result = step(*given)
    run = front.ends[0].run
    shown = [run.tensors.value(row) for row in run.tensors.named("Identity")]
    np.testing.assert_array_equal(shown, [result.numpy()])
    assert run.exactness is not None and run.exactness.exact
