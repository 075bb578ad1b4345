"""Faults planted in functions of every kind: the origin names the op, and the line where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.launched import python

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run
from zoo.twins import witnessed, witnessed_function

pytestmark = pytest.mark.tf


def line_of(mark: str) -> int:
    """The line of this file that ends in the comment `mark`."""
    lines = Path(__file__).read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith(f"# planted: {mark}")]
    assert len(found) == 1, mark
    return found[0]


def assert_planted(run: Run, op_type: str, mark: str | None, execution: int = 0) -> Origin:
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.op_type == op_type, origin.name
    assert origin.index is not None
    assert run.tensors[origin.index].execution == execution
    if mark is None:
        assert origin.frame is None or "site-packages" not in origin.frame.file
    else:
        assert origin.frame is not None
        assert (Path(origin.frame.file).name, origin.frame.line) == (Path(__file__).name, line_of(mark))
    return origin


def only_run(function: Any, *arguments: Any) -> Run:
    with witnessed() as witness:
        function(*arguments)
    assert witness.count == 1
    return witness.runs[0]


def test_sixth_turn_of_a_loop_in_a_branch() -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        total = tf.constant(0.0)
        if tf.reduce_sum(x) > 0.0:
            for turn in tf.range(8):
                total += tf.math.log(x[0] * (5.5 - tf.cast(turn, tf.float32)))  # planted: turn
        return total

    run = only_run(step, tf.constant([2.0]))
    origin = assert_planted(run, "Log", "turn", execution=6)
    assert np.isnan(origin.value)


def test_loop_whose_sixth_turn_is_execution_5() -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        def turn(i: Any, y: Any) -> Any:
            return i + 1, tf.sqrt(y) - tf.where(i == 4, 100.0, 0.0)  # planted: sixth

        return tf.cond(x > 0, lambda: tf.while_loop(lambda i, y: i < 9, turn, [0, x])[1], lambda: x)

    assert_planted(only_run(step, tf.constant(2.0)), "Sqrt", "sixth", execution=5)


@pytest.mark.parametrize("nested", [False, True])
def test_compiled_step(nested: bool) -> None:
    import tensorflow as tf

    weight = tf.Variable([0.0, 1.0])

    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        y = x * 2.0
        z = y / weight  # planted: compiled
        return tf.reduce_sum(z)

    @tf.function
    def around(x: Any) -> Any:
        return compiled(x + 1.0) - 1.0

    assert_planted(only_run(around if nested else compiled, tf.constant([1.0, 2.0])), "RealDiv", "compiled")


def test_infinity_that_where_hides() -> None:
    """No output shows it."""
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        inverse = tf.math.reciprocal(x)  # planted: hidden
        return tf.where(x > 0.0, inverse, tf.zeros_like(x))

    run = only_run(step, tf.constant([0.0, 2.0]))
    assert np.isfinite(np.array(step(tf.constant([0.0, 2.0])))).all()
    origin = assert_planted(run, "Reciprocal", "hidden")
    assert [element.index for element in origin.elements] == [(0,)]


def test_gradient_that_overflows_while_the_loss_is_finite() -> None:
    import tensorflow as tf

    weight = tf.Variable([0.0, 4.0])

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            root = tf.sqrt(weight)  # planted: gradient
            loss = tf.reduce_sum(root)
        return loss, tape.gradient(loss, weight)

    run = only_run(step)
    origin = OriginSearch(run).first()
    assert origin is not None and origin.name.node.startswith("gradient_tape/") and origin.op_type == "SqrtGrad"
    assert np.isinf(origin.value).tolist() == [True, False]


@pytest.mark.parametrize(("dtype", "large"), [("float16", 300.0), ("bfloat16", 1e20)])
def test_half_precision(dtype: str, large: float) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        narrow = tf.cast(x, dtype)
        square = tf.square(narrow)  # planted: half
        return tf.cast(square, tf.float32)

    origin = assert_planted(only_run(step, tf.constant([1.0, large])), "Square", "half")
    assert origin.value.dtype.name == dtype


def test_saved_model_without_sources(tmp_path: Path) -> None:
    """The op is named; there are no lines, and none are made up."""
    import tensorflow as tf

    module = tf.Module()
    module.scale = tf.Variable([0.0, 1.0])

    def serve(x: Any) -> Any:
        with tf.name_scope("normalise"):
            return tf.tanh(tf.math.log(x * module.scale))

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.serve)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    x = tf.constant([1.0, 2.0])
    for function in (loaded.serve, loaded.signatures["serving_default"]):
        run = only_run(function, x)
        origin = assert_planted(run, "Log", None)
        assert origin.frame is None
        assert "normalise" in origin.name.node


def test_concrete_function() -> None:
    import tensorflow as tf

    def cube(x: Any) -> Any:
        return tf.exp(x * x * x)  # planted: concrete

    concrete = tf.function(cube).get_concrete_function(tf.TensorSpec([None]))
    assert_planted(only_run(concrete, tf.constant([9.0, 1.0])), "Exp", "concrete")
    with witnessed_function(concrete) as (wrapped, witness):
        wrapped(tf.constant([9.0, 1.0]))
    assert_planted(witness.runs[-1], "Exp", "concrete")


def test_wrapped_function() -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.log(x)  # planted: wrapped

    with witnessed_function(step) as (wrapped, witness):
        wrapped(tf.constant([0.0, 1.0]))
    assert_planted(witness.runs[-1], "Log", "wrapped")


def test_eager_loop() -> None:
    import tensorflow as tf

    def loop(x: Any) -> Any:
        for turn in range(4):
            x = x * 2.0
            x = tf.sqrt(x - 3.0 * turn)  # planted: eager
        return x

    with witnessed_function(loop) as (wrapped, witness):
        result = wrapped(tf.constant(1.0))
    assert np.isnan(np.array(result))
    assert_planted(witness.runs[-1], "Sqrt", "eager")


def test_layer_of_a_keras_fit() -> None:
    """A 0/0 in a custom layer: the op, the user's line, and the row of the batch."""
    import tensorflow as tf

    @tf.keras.utils.register_keras_serializable("zoo")
    class Share(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x / tf.reduce_sum(x, axis=1, keepdims=True)  # planted: layer

    model = tf.keras.Sequential([Share(), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=False)
    x = np.ones([8, 3], np.float32)
    x[5] = 0.0
    with witnessed() as witness:
        model.fit(x, np.zeros([8, 2], np.float32), verbose=0, shuffle=False, batch_size=8)
    origin = assert_planted(witness.runs[0], "RealDiv", "layer")
    assert origin.batch_rows == (5,)


def test_mirrored_strategy_over_two_logical_cpus() -> None:
    """In a process of its own, since devices cannot be divided once TensorFlow runs."""
    script = Path(__file__).parent / "mirrored_program.py"
    done = python(script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "identical; origin Log in replica 1"
