"""Loops, branches and arguments of every kind: captured calls give what as many undebugged ones give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo.twins import Program, failing, twins, witnessed

pytestmark = pytest.mark.tf


def test_loop_in_a_branch_in_a_loop() -> None:
    import tensorflow as tf

    def build() -> Program:
        weight = tf.Variable([1.0, -2.0, 3.0])

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                total = tf.constant(0.0)
                for turn in tf.range(4):
                    if turn % 2 == 0:
                        inner = tf.reduce_sum(weight)
                        while inner < 9.0:
                            inner += tf.abs(inner) * 0.5 + 1.0
                        total += inner
                    else:
                        total -= tf.reduce_sum(tf.sin(weight)) * tf.cast(turn, tf.float32)
            weight.assign_sub(0.01 * tape.gradient(total, weight))
            return total

        return Program(step, lambda: [weight])

    twins(build)


def test_loop_with_break_continue_and_two_returns() -> None:
    import tensorflow as tf

    def build() -> Program:
        start = tf.Variable(1)

        @tf.function
        def step() -> Any:
            start.assign_add(3)
            number, count = tf.identity(start), 0
            while number < 5000:
                count += 1
                if number % 5 == 0:
                    break
                if number % 2 == 0:
                    number //= 2
                    continue
                number = 3 * number + 1
                if count > 20:
                    break
            if number > 10:
                return number, -count
            return number, count

        return Program(step, lambda: [start])

    twins(build)


def test_switch_case() -> None:
    import tensorflow as tf

    def build() -> Program:
        which = tf.Variable(0)

        @tf.function
        def step() -> Any:
            which.assign((which + 1) % 4)
            branches = [
                lambda: tf.constant(1.0),
                lambda: tf.sqrt(tf.cast(which, tf.float32)),
                lambda: tf.constant(-3.0),
            ]
            return tf.switch_case(tf.identity(which), branches, default=lambda: tf.random.uniform([], seed=1))

        return Program(step, lambda: [which])

    twins(build)


def test_tensor_array_in_loops_with_gradients() -> None:
    import tensorflow as tf

    def build() -> Program:
        weight = tf.Variable([0.5, 0.25])

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                states = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
                state = tf.ones([2])
                for turn in tf.range(6):
                    state = tf.tanh(state * weight + 0.1)
                    states = states.write(turn, state)
                loss = tf.reduce_sum(states.stack() ** 2) + tf.reduce_sum(states.read(2))
            gradient = tape.gradient(loss, weight)
            weight.assign_sub(0.1 * gradient)
            return loss, gradient

        return Program(step, lambda: [weight])

    twins(build)


def test_scan_map_and_parallel_iterations() -> None:
    import tensorflow as tf

    def build() -> Program:
        offset = tf.Variable(0.0)

        @tf.function
        def step() -> Any:
            offset.assign_add(0.5)
            numbers = tf.range(7.0) + offset
            mapped = tf.map_fn(lambda x: tf.where(x > 3, x * x, -x), numbers)
            return mapped, tf.scan(lambda a, b: a * 0.5 + b, numbers), tf.vectorized_map(tf.exp, numbers)

        return Program(step, lambda: [offset])

    twins(build)


def test_ragged_and_sparse_arguments() -> None:
    import tensorflow as tf

    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    sparse = tf.sparse.from_dense([[0.0, 1.5], [2.5, 0.0]])

    def build() -> Program:
        count = tf.Variable(1.0)

        @tf.function
        def step(pieces: Any, grid: Any, slices: Any) -> Any:
            count.assign_add(1.0)
            rows = tf.reduce_sum(pieces, axis=1)
            return (
                pieces * count,
                {"rows": rows, "product": tf.sparse.sparse_dense_matmul(grid, tf.ones([2, 3]))},
                grid,
                slices,
            )

        slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 3]), tf.constant([4, 2]))
        return Program(lambda: step(ragged, grid=sparse, slices=slices), lambda: [count])

    twins(build)


def test_text_and_tables() -> None:
    import tensorflow as tf

    def build() -> Program:
        keys = tf.constant(["a", "\u00e9", ""])
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2, 3])), -1)

        @tf.function
        def step(text: Any) -> Any:
            words = tf.strings.split(text, " ")
            return table.lookup(words.flat_values), tf.strings.join([text, "\x1b[31m!"]), words

        return Program(lambda: step(tf.constant(["a b", "\u00e9 a"])))

    twins(build)


def test_embedding_with_sparse_gradients() -> None:
    import tensorflow as tf

    def build() -> Program:
        table = tf.Variable(tf.random.normal([9, 3]))
        slots = tf.Variable(tf.zeros([9, 3]))

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([1, 4, 1])) ** 2)
            gradient = tape.gradient(loss, table)
            slots.scatter_add(gradient)
            table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
            return loss

        return Program(step, lambda: [table, slots])

    twins(build)


def test_python_side_effects_and_host_calls(capfd: Any) -> None:
    import tensorflow as tf

    calls: list[int] = []

    def build() -> Program:
        count = tf.Variable(0)

        @tf.function
        def step() -> Any:
            calls.append(-1)
            tf.print("turn", count.assign_add(1), output_stream="file:///dev/stderr")
            return tf.numpy_function(lambda n: calls.append(int(n)) or np.int64(n * 2), [count], tf.int64)

        return Program(step, lambda: [count])

    twins(build, 5)
    once = [-1, 1, 2, 3, 4, 5]
    assert calls == once * 2, "a step was traced or run more than once"


def test_closures_over_tensors_and_nested_functions() -> None:
    import tensorflow as tf

    def build() -> Program:
        outside = tf.constant([1.0, 2.0])
        weight = tf.Variable([3.0, 4.0])

        @tf.function
        def inner(x: Any, scale: float = 2.0) -> Any:
            return x * outside * scale

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                value = inner(inner(weight), scale=0.5) + inner(weight + 1.0)
            gradient = tape.gradient(value, weight)
            weight.assign_add(0.1 * gradient)
            return value, gradient

        return Program(step, lambda: [weight])

    twins(build)


def test_gradient_of_an_outer_tape() -> None:
    """Variables that only the function touches are watched, and second derivatives are right, too."""
    import tensorflow as tf

    def build() -> Program:
        weight = tf.Variable([0.3, 0.6])
        x = tf.Variable(2.0)

        @tf.function
        def value(y: Any) -> Any:
            return tf.reduce_sum(tf.sin(weight * y) * weight)

        def step() -> Any:
            with tf.GradientTape() as outer:
                with tf.GradientTape(persistent=True) as tape:
                    loss = value(x) + value(x * x)
                first = tape.gradient(loss, [weight, x])
            second = outer.gradient(first[1], [weight, x])
            weight.assign_sub(0.01 * first[0])
            return loss, first, second

        return Program(step, lambda: [weight, x])

    twins(build, at_least=10)


def test_jacobian_and_forward_mode() -> None:
    import tensorflow as tf

    def build() -> Program:
        x = tf.Variable([0.1, 0.2, 0.3])

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                y = tf.sin(x) * x[0]
            jacobian = tape.jacobian(y, x)
            with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0, 0.0])) as forward:
                z = tf.exp(x)
            x.assign_add(0.1 * y)
            return jacobian, forward.jvp(z)

        return Program(step, lambda: [x])

    twins(build)


def test_iterator_that_ends() -> None:
    """The exception of the last step is that of an undebugged run."""
    import tensorflow as tf

    total = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(batches: Any) -> Any:
        return total.assign_add(tf.reduce_sum(next(batches)))

    def build() -> Program:
        iterator = iter(tf.data.Dataset.range(6).batch(2))
        return Program(lambda: step(iterator), lambda: [total])

    failing(build(), build())


@pytest.mark.parametrize("where", ["straight", "branch", "loop", "compiled"])
def test_exception(where: str) -> None:
    """Type and message are those of the undebugged step; what was assigned before it is assigned."""
    import tensorflow as tf

    count = tf.Variable(0)

    def broken(number: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(number, 3, message="too large")]):
            return number + 1

    @tf.function
    def straight() -> Any:
        return broken(count.assign_add(1))

    @tf.function
    def branch() -> Any:
        count.assign_add(1)
        return tf.cond(count > 2, lambda: broken(count.read_value()), lambda: 0)

    @tf.function
    def loop() -> Any:
        count.assign_add(1)
        return tf.while_loop(lambda i: i < 2, lambda i: [broken(i + count)], [0])

    @tf.function(jit_compile=True)
    def compiled() -> Any:
        return tf.strings.length(tf.strings.as_string(count.assign_add(1)))

    steps = {"straight": straight, "branch": branch, "loop": loop, "compiled": compiled}
    witness = failing(Program(steps[where], lambda: [count]))
    error = witness.runs[-1].error
    assert error is not None
    if where != "compiled":
        assert error.node is not None and "Assert" in error.node


def test_exception_of_a_kernel() -> None:
    import tensorflow as tf

    size = tf.Variable(2)

    @tf.function
    def step() -> Any:
        return tf.reshape(tf.range(12), [size.assign_add(1), -1])

    witness = failing(Program(step, lambda: [size]))
    assert witness.runs[-1].error is not None
    assert witness.runs[-1].error.node == "Reshape"


def test_exception_of_python() -> None:
    """What a host call raises comes back with its text, and an error of tracing is no run at all."""
    import tensorflow as tf

    count = tf.Variable(0)

    def host(number: Any) -> Any:
        if number > 2:
            raise ValueError("three is too much")
        return number

    @tf.function
    def step() -> Any:
        return tf.py_function(host, [count.assign_add(1)], tf.int32)

    assert "three is too much" in str(failing(Program(step, lambda: [count])).runs[-1].error)

    @tf.function
    def untraceable() -> Any:
        return tf.ones([2]) + tf.ones([3])

    with pytest.raises(ValueError, match="Dimensions must be equal"):
        untraceable()
    with witnessed() as witness, pytest.raises(ValueError, match="Dimensions must be equal"):
        untraceable()
    assert not witness.count
