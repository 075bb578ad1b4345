"""Training steps written by hand: captured ones give, bit for bit, what as many undebugged ones give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoo.twins import Program, Witness, again, assert_close, assert_seen, course, seeded, twins, witnessed

pytestmark = pytest.mark.tf

RNG = np.random.RandomState(0)
ROWS = RNG.randn(8, 6, 4).astype(np.float32)
LABELS = RNG.randint(0, 3, 8)


def trained(model: Any, x: Any = ROWS, y: Any = LABELS, *, jit: bool = False) -> Program:
    """A step with momentum on the cross entropy of `model`, whose last layer gives three logits.

    Optimizers with more ops take longest to trace; those of Keras stand in tests/exactness, two of them in the GAN.
    """
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
    model(x)
    optimizer.build(model.trainable_variables)
    x, y = tf.constant(x), tf.constant(y)

    @tf.function(jit_compile=jit)
    def step() -> Any:
        with tf.GradientTape() as tape:
            logits = tf.cast(model(x, training=True), tf.float32)
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, gradients

    return Program(step, lambda: [v.value for v in (*model.variables, *optimizer.variables)])


def traced_once(build: Callable[[], Program]) -> Witness:
    """As `twins`, but TensorFlow traces the program before it is debugged, which takes half of the time.

    Those traced while they are debugged are the transformer block, the convolutions and all that is not of Keras.
    """
    return again(seeded(build), 3)


def sequential(*layers: Any) -> Any:
    import tensorflow as tf

    return tf.keras.Sequential(list(layers))


# The mixed precision below has a GRU, the bidirectional layer a SimpleRNN.
@pytest.mark.parametrize(
    "kind", ["LSTM", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("GRU", "SimpleRNN"))]
)
def test_recurrent_layer(kind: str) -> None:
    import tensorflow as tf

    witness = traced_once(lambda: trained(sequential(getattr(tf.keras.layers, kind)(5), tf.keras.layers.Dense(3))))
    turns = max(tensor.execution for tensor in _tensors(witness))
    assert turns == ROWS.shape[1], "the time steps are not seen as executions"


def _tensors(witness: Any) -> list[Any]:
    store = witness.runs[-1].tensors
    return [store[row] for row in range(len(store))]


def test_bidirectional_and_masked_layers() -> None:
    import tensorflow as tf

    layers = tf.keras.layers
    masked = np.where(np.arange(6)[None, :, None] < 4, ROWS, 0).astype(np.float32)
    model = lambda: sequential(layers.Masking(), layers.Bidirectional(layers.SimpleRNN(4)), layers.Dense(3))  # noqa: E731
    traced_once(lambda: trained(model(), masked))


def test_transformer_block() -> None:
    import tensorflow as tf

    layers = tf.keras.layers

    def build() -> Program:
        tokens = tf.keras.Input((6, 4))
        attended = layers.MultiHeadAttention(2, 4, dropout=0.1)(tokens, tokens, use_causal_mask=True)
        x = layers.LayerNormalization()(tokens + attended)
        x = layers.LayerNormalization()(x + layers.Dense(4)(layers.Dense(16, activation="gelu")(x)))
        return trained(tf.keras.Model(tokens, layers.Dense(3)(layers.GlobalAveragePooling1D()(x))))

    twins(build)


def test_convolutions_with_batch_normalization_and_dropout() -> None:
    import tensorflow as tf

    layers = tf.keras.layers
    images = RNG.rand(4, 8, 8, 3).astype(np.float32)

    def build() -> Program:
        model = sequential(
            layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
            layers.SpatialDropout2D(0.3), layers.DepthwiseConv2D(3),
            layers.MaxPool2D(), layers.Flatten(), layers.Dropout(0.5), layers.Dense(3),
        )  # fmt: skip
        return trained(model, images, LABELS[:4])

    twins(build)


# Values of bfloat16, which NumPy does not know by itself, are captured in test_planted.py::test_half_precision, too.
@pytest.mark.parametrize("policy", ["mixed_float16", pytest.param("mixed_bfloat16", marks=pytest.mark.slow)])
def test_mixed_precision(policy: str) -> None:
    import tensorflow as tf

    before = tf.keras.mixed_precision.global_policy()
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        witness = traced_once(
            lambda: trained(
                sequential(tf.keras.layers.Dense(8, "relu"), tf.keras.layers.GRU(4), tf.keras.layers.Dense(3))
            )
        )
    finally:
        tf.keras.mixed_precision.set_global_policy(before)
    assert policy.removeprefix("mixed_") in {tensor.dtype for tensor in _tensors(witness)}


def test_loss_scaling_that_skips_steps() -> None:
    """A branch of the optimizer decides whether the step counts; with this scale some overflow."""
    import tensorflow as tf

    def build() -> Program:
        weight = tf.Variable(tf.ones([4, 3]))
        optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), initial_scale=2.0**127)
        optimizer.build([weight])

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.constant(ROWS[0]) @ weight) ** 2
                scaled = optimizer.scale_loss(loss)
            optimizer.apply([tape.gradient(scaled, weight)], [weight])
            return loss

        return Program(step, lambda: [weight, *(v.value for v in optimizer.variables)])

    twins(build, 10)  # the scale is halved until steps count


def test_gan_step_with_two_tapes() -> None:
    import tensorflow as tf

    def build() -> Program:
        make = sequential(tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(4))
        judge = sequential(tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1))
        make(tf.ones([1, 2])), judge(tf.ones([1, 4]))
        of_make, of_judge = tf.keras.optimizers.Adam(0.01), tf.keras.optimizers.RMSprop(0.01)
        of_make.build(make.trainable_variables), of_judge.build(judge.trainable_variables)

        @tf.function
        def step(real: Any) -> Any:
            noise = tf.random.normal([8, 2], seed=3)
            with tf.GradientTape() as for_make, tf.GradientTape() as for_judge:
                made = make(noise, training=True)
                on_real, on_made = judge(real), judge(made)
                loss_of_make = tf.reduce_mean(tf.nn.softplus(-on_made))
                loss_of_judge = tf.reduce_mean(tf.nn.softplus(on_made) + tf.nn.softplus(-on_real))
            g_make = for_make.gradient(loss_of_make, make.trainable_variables)
            g_judge = for_judge.gradient(loss_of_judge, judge.trainable_variables)
            of_make.apply_gradients(zip(g_make, make.trainable_variables, strict=True))
            of_judge.apply_gradients(zip(g_judge, judge.trainable_variables, strict=True))
            return loss_of_make, loss_of_judge

        owners = (make, judge, of_make, of_judge)
        return Program(lambda: step(tf.constant(ROWS[:, 0])), lambda: [v.value for o in owners for v in o.variables])

    twins(build)


def test_custom_gradient() -> None:
    import tensorflow as tf

    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.exp(x), lambda upstream: tf.clip_by_value(upstream * tf.exp(x), -1.0, 1.0)

    def build() -> Program:
        weight = tf.Variable(tf.random.normal([4]))

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(clipped(weight) * clipped(-weight * 2))
            gradient = tape.gradient(loss, weight)
            weight.assign_sub(0.1 * gradient)
            return loss, gradient

        return Program(step, lambda: [weight])

    twins(build)


def test_recomputed_gradients() -> None:
    import tensorflow as tf

    def build() -> Program:
        first, second = tf.Variable(tf.random.normal([4, 8])), tf.Variable(tf.random.normal([8, 3]))

        @tf.recompute_grad
        def inner(x: Any) -> Any:
            return tf.tanh(tf.tanh(x @ first) @ second)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(inner(tf.constant(ROWS[0])) ** 2)
            gradients = tape.gradient(loss, [first, second])
            for variable, gradient in zip((first, second), gradients, strict=True):
                variable.assign_sub(0.1 * gradient)
            return loss, gradients

        return Program(step, lambda: [first, second])

    twins(build)


def test_random_numbers_with_and_without_state() -> None:
    import tensorflow as tf

    def build() -> Program:
        generator = tf.random.Generator.from_seed(5)
        count = tf.Variable(0)

        @tf.function
        def step() -> Any:
            count.assign_add(1)
            pair = tf.stack([count, 7])
            return (
                tf.random.normal([3]), tf.random.uniform([3], seed=2), tf.random.shuffle(tf.range(9)),
                tf.random.stateless_normal([3], pair), generator.normal([3]), tf.random.categorical([[1.0, 2.0]], 5),
            )  # fmt: skip

        return Program(step, lambda: [count, generator.state])

    twins(build)


def test_unseeded_random_numbers_are_still_random() -> None:
    import tensorflow as tf

    @tf.function
    def draw() -> Any:
        return tf.random.normal([4])

    with witnessed():
        first, second = np.array(draw()), np.array(draw())
    assert (first != second).all()


def test_sizes_that_follow_from_values_under_xla() -> None:
    """A blind test: XLA gave a tensor of size -1262438512 back, at which TensorFlow aborted the program."""
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.boolean_mask(tf.sqrt(x), x > 1.0))
        return loss, tape.gradient(loss, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    plain = [value.numpy() for value in step(x)]
    with witnessed() as witness:
        debugged = [value.numpy() for value in step(x)]
    np.testing.assert_allclose(debugged[0], plain[0])
    np.testing.assert_allclose(debugged[1], plain[1])
    assert any("tensors whose size follows from values" in note for note in witness.notes), witness.notes
    tensors = witness.runs[0].tensors
    assert [tensors[row].shape for row in tensors.named("boolean_mask/Where", 0)] == [(3, 1)]


def test_debugger_v2_fails_under_jit_compile_true_and_a_capture_does_not() -> None:
    """Debugger V2 puts debug ops into the function, for which XLA has no kernels: the program ends with an error."""
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x) * 2.0)

    x = tf.constant([1.0, -1.0])
    plain = step(x).numpy()
    with witnessed() as witness:
        debugged = step(x).numpy()
    assert np.isnan(plain) and np.isnan(debugged)
    assert not witness.failures
    tensors = witness.runs[0].tensors
    (row,) = tensors.named("Log", 0)
    np.testing.assert_array_equal(tensors.value(row), [0.0, np.nan])


@pytest.mark.parametrize("kind", ["dense", "loop"])
def test_compiled_step_stays_within_rounding(kind: str) -> None:
    """XLA fuses fewer ops when every value is wanted, so equality is not promised there; the notes say so."""
    import tensorflow as tf

    layers = tf.keras.layers
    kinds = {"dense": lambda: (layers.Dense(8, "gelu"), layers.Flatten()), "loop": lambda: (layers.SimpleRNN(4),)}

    def build() -> Program:
        return trained(sequential(*kinds[kind](), layers.Dense(3)), jit=True)

    plain = course(seeded(build), 3)
    program = seeded(build)
    with witnessed() as witness:
        debugged = course(program, 3)
    assert_seen(witness, 3)
    wanted = {"dense": "compiled by XLA", "loop": "without XLA"}[kind]
    assert any(wanted in note for note in witness.notes), witness.notes
    assert_close(plain, debugged)
