"""Training whose steps loop, branch and call: TensorArrays, ragged rows, datasets inside functions, XLA inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Plant, Program, stepwise, variables
from exactness.programs.planting import hidden, numbers, start, weight


def tensor_arrays(plant: Plant) -> Program:
    """A recurrent network by hand: `tf.while_loop` reads one TensorArray and writes another, of any length."""
    import tensorflow as tf

    inner, outer = weight(1, 6, 8), weight(2, 8, 8)
    head = weight(3, 8, 1)
    held = [inner, outer, head]

    @tf.function(input_signature=[tf.TensorSpec([None, None, 6])])
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            rows = tf.transpose(hidden(x), [1, 0, 2])
            length = tf.shape(rows)[0]
            given = tf.TensorArray(tf.float32, length).unstack(rows)
            made = tf.TensorArray(tf.float32, length, element_shape=[None, 8])

            def turn(at: Any, state: Any, made: Any) -> Any:
                gate = tf.sigmoid(given.read(at) @ inner + state @ outer)
                state = state * gate + tf.tanh(state @ outer - 0.5) * (1.0 - gate)
                return at + 1, state, made.write(at, state)

            start = tf.zeros([tf.shape(x)[0], 8])
            _, state, made = tf.while_loop(lambda at, *_: at < length, turn, [0, start, made])
            loss = tf.reduce_mean((tf.reduce_mean(made.stack(), 0) @ head + state @ head - 1.0) ** 2)
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, held), 0.1)
        for variable, gradient in zip(held, gradients, strict=True):
            variable.assign_sub(0.2 * gradient)
        return loss, norm

    return _fed(step, plant, lambda at: (4, 3 + at % 3, 6), held)


def ragged(plant: Plant) -> Program:
    """Sentences of other lengths in each step: means of embeddings, a ragged product, a sum over rows."""
    import tensorflow as tf

    table, kernel, head = weight(1, 30, 6), weight(2, 6, 6), weight(3, 6, 1)
    held = [table, kernel, head]

    @tf.function
    def step(words: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            rows = tf.ragged.map_flat_values(lambda w: tf.tanh(tf.gather(table, w) @ kernel), words)
            weights = tf.ragged.map_flat_values(lambda r: tf.exp(r @ head), rows)
            mean = tf.reduce_sum(rows * weights, 1) / (tf.reduce_sum(weights, 1) + 0.1)
            loss = tf.reduce_mean((tf.concat([mean, hidden(x)], 1) @ tf.concat([head, head], 0) - 0.5) ** 2)
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * tf.convert_to_tensor(gradient))
        return loss, mean

    def at(number: int) -> Any:
        chance = np.random.RandomState(number)
        words = tf.RaggedTensor.from_row_lengths(chance.randint(0, 30, 9), [3, 0, 5, 1])
        return step(words, numbers(plant, number, 4, 6))

    return Program(stepwise(at), lambda: variables(held))


def loop_over_variables(plant: Plant) -> Program:
    """Power iteration until it settles: variables are written in each turn of a `tf.while_loop`."""
    import tensorflow as tf

    vector, count, matrix = weight(1, 8, 1), tf.Variable(0, name="count"), weight(2, 8, 8)
    held = [vector, count, matrix]

    @tf.function
    def step(x: Any) -> Any:
        square = tf.matmul(hidden(x), hidden(x), transpose_a=True) / 4.0 + matrix

        def turn(at: Any, before: Any) -> Any:
            long = square @ vector
            now = tf.norm(long)
            vector.assign(long / (now + 1e-6))
            count.assign_add(1)
            return at + 1, now

        _, largest = tf.while_loop(
            lambda at, before: (at < 5) & (tf.abs(before - tf.norm(vector)) > 1e-5), turn, [0, tf.constant(0.0)]
        )
        matrix.assign_sub(0.01 * largest * vector @ tf.transpose(vector))
        return largest, vector

    return _fed(step, plant, lambda _: (4, 8), held)


def compiled_inside(plant: Plant) -> Program:
    """Only the network is compiled by XLA; the loss, its gradient and the update are not."""
    import tensorflow as tf

    first, second = weight(1, 8, 16), weight(2, 16, 1)
    held = [first, second]

    @tf.function(jit_compile=True)
    def network(x: Any) -> Any:
        return tf.nn.softplus(tf.nn.gelu(x @ first) @ second) * 0.5 + 0.25

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(hidden(x)) - 1.0) ** 2) + 0.01 * tf.nn.l2_loss(first)
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * (gradient + 0.01 * variable))
        return loss

    return _fed(step, plant, lambda _: (4, 8), held)


def mapped(plant: Plant) -> Program:
    """Rows one after the other by `tf.map_fn`, all at once by `tf.vectorized_map`, and their sum by `tf.foldl`."""
    import tensorflow as tf

    kernel, head = weight(1, 6, 6), weight(2, 6, 1)
    held = [kernel, head]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            rows = tf.map_fn(lambda row: tf.tanh(tf.linalg.matvec(kernel, row)) * tf.reduce_mean(row), hidden(x))
            outer = tf.vectorized_map(lambda row: tf.tensordot(row, row, 0) @ head, rows)
            folded = tf.foldl(lambda before, now: 0.9 * before + now, rows)
            loss = tf.reduce_mean(outer**2) + tf.reduce_mean((folded[None] @ head - 1.0) ** 2)
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss, folded

    return _fed(step, plant, lambda _: (5, 6), held)


def dataset_inside(plant: Plant) -> Program:
    """An epoch is one call: the function goes over a `tf.data` pipeline, with an update in each turn."""
    import tensorflow as tf

    kernel, moved, total = (
        weight(1, 6, 1),
        tf.Variable(tf.zeros([6, 1]), name="moved"),
        tf.Variable(0.0, name="total"),
    )
    held = [kernel, moved, total]

    @tf.function
    def epoch(dataset: Any, shift: Any) -> Any:
        total.assign(0.0)
        shift = hidden(shift)  # outside of the loop, whose turns nobody watches
        for x in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.math.log(tf.cosh((x + shift) @ kernel - 1.0)))
            gradient = tape.gradient(loss, kernel)
            moved.assign(0.9 * moved + gradient)
            kernel.assign_sub(0.05 * moved)
            total.assign_add(loss)
        return total / 3.0

    def at(number: int) -> Any:
        rows = tf.data.Dataset.from_tensor_slices(numbers(Plant(), number, 12, 6))
        return epoch(rows.map(lambda row: row * 2.0 - 0.1).batch(4), numbers(plant, number, 6))

    return Program(stepwise(at), lambda: variables(held))


def decoded(plant: Plant) -> Program:
    """Words are drawn one after the other in a loop over a range, and the network learns by their reward."""
    import tensorflow as tf

    table, kernel, head = weight(1, 10, 6), weight(2, 6, 6), weight(3, 6, 10)
    count = tf.Variable(0, name="count")
    held = [table, kernel, head]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            state, score = hidden(x), tf.zeros([4])
            words = tf.zeros([4], tf.int32)
            drawn = tf.TensorArray(tf.int32, 4)
            for at in tf.range(4):
                state = tf.tanh(state @ kernel + tf.gather(table, words))
                logits = state @ head
                seed = tf.stack([count, at])
                words = tf.random.stateless_categorical(logits, 1, seed, dtype=tf.int32)[:, 0]
                score += -tf.nn.sparse_softmax_cross_entropy_with_logits(words, logits)
                drawn = drawn.write(at, words)
            reward = tf.reduce_mean(tf.cast(drawn.stack(), tf.float32), 0) / 10.0
            loss = -tf.reduce_mean(score * tf.stop_gradient(reward - tf.reduce_mean(reward)))
        count.assign_add(1)
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * tf.convert_to_tensor(gradient))
        return loss, reward

    return _fed(step, plant, lambda _: (4, 6), [*held, count])


def aligned(plant: Plant) -> Program:
    """The loss of CTC, and a random field whose sum over all paths is a `tf.scan` of log-sums."""
    import tensorflow as tf

    kernel, moves = weight(1, 6, 5), weight(2, 5, 5)
    held = [kernel, moves]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.transpose(hidden(x) @ kernel, [1, 0, 2])
            alignment = tf.nn.ctc_loss(
                tf.constant([[1, 2, 1], [3, 1, 0]]), logits[:, :2], tf.constant([3, 2]), tf.constant([6, 6]),
                blank_index=0,
            )  # fmt: skip
            paths = tf.scan(
                lambda before, now: tf.reduce_logsumexp(before[:, :, None] + moves[None], 1) + now,
                logits[1:],
                logits[0],
            )
            loss = tf.reduce_mean(alignment) + tf.reduce_mean(tf.reduce_logsumexp(paths[-1], 1) - logits[-1, :, 0])
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.05 * gradient)
        return loss, alignment

    return _fed(step, plant, lambda _: (3, 6, 6), held)


def sparse_features(plant: Plant) -> Program:
    """Words with weights in a SparseTensor, looked up in a table whose Adam updates only their rows."""
    import keras
    import tensorflow as tf

    table, head = keras.Variable(start(1, 40, 6), name="table"), keras.Variable(start(2, 6, 1), name="head")
    adam = keras.optimizers.Adam(0.05)
    adam.build([table, head])

    @tf.function
    def step(words: Any, weights: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            summed = tf.nn.embedding_lookup_sparse(table.value, words, weights, combiner="sqrtn")
            wide = tf.sparse.sparse_dense_matmul(tf.sparse.reorder(weights), tf.ones([4, 6]))
            loss = tf.reduce_mean(tf.nn.softplus((summed + hidden(x) + 0.1 * wide) @ head.value))
        gradients = tape.gradient(loss, [table.value, head.value])
        adam.apply_gradients(zip(gradients, [table, head], strict=True))
        return loss, summed

    def at(number: int) -> Any:
        chance = np.random.RandomState(number)
        places = [[0, 0], [0, 1], [0, 3], [1, 0], [2, 0], [2, 2], [3, 1]]
        words = tf.SparseTensor(places, chance.randint(0, 40, 7), [4, 4])
        weights = tf.SparseTensor(places, chance.uniform(size=7).astype(np.float32), [4, 4])
        return step(words, weights, numbers(plant, number, 4, 6))

    return Program(stepwise(at), lambda: variables([table, head], adam))


def _fed(step: Any, plant: Plant, shape: Any, held: Any) -> Program:
    """`step` with numbers of the shape that its step has."""
    return Program(stepwise(lambda at: step(numbers(plant, at, *shape(at)))), lambda: variables(held))


PROGRAMS = {
    "tensor arrays": lambda: tensor_arrays,
    "ragged": lambda: ragged,
    "loop over variables": lambda: loop_over_variables,
    "compiled inside": lambda: compiled_inside,
    "mapped": lambda: mapped,
    "dataset inside": lambda: dataset_inside,
    "decoded": lambda: decoded,
    "aligned": lambda: aligned,
    "sparse features": lambda: sparse_features,
}
